/** The door: an API key, asked of the server before it is kept. It is kept in this tab alone. */
import { useState } from 'react'
import { createApi, type Problem } from '../api.js'
import { ProblemNote } from '../parts/problem-note.js'
import type { Me } from '../shapes.js'

const REFUSED: Problem = {
  status: 401,
  code: 'UNAUTHENTICATED',
  detail: 'this key is not good, or no longer',
  action: 'use another one; ibid keys list shows which there are',
}

export function SignIn({
  onEnter,
  wasRefused,
}: {
  readonly onEnter: (key: string) => void
  readonly wasRefused: boolean
}) {
  const [key, setKey] = useState('')
  const [isAsking, setAsking] = useState(false)
  const [problem, setProblem] = useState<Problem | undefined>(wasRefused ? REFUSED : undefined)

  async function ask(): Promise<void> {
    setAsking(true)
    const given = key.trim()
    // What a header cannot hold is no key, and fetch would throw on it.
    const said = /^[\x21-\x7e]+$/.test(given) ? await createApi(given).get<Me>('/v1/me') : undefined
    setAsking(false)
    if (said?.ok) onEnter(given)
    else setProblem(said && said.problem.status !== 401 ? said.problem : REFUSED)
  }

  return (
    <main className="alone">
      <h1>
        ibid<span aria-hidden="true">.</span>
      </h1>
      <p>
        Do it once; after that, ibid. This page shows what was done, what was not done again, and what waits.
      </p>
      <form
        className="card stack"
        onSubmit={(event) => {
          event.preventDefault()
          void ask()
        }}
      >
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          value={key}
          required
          autoComplete="off"
          spellCheck={false}
          aria-describedby="key-about"
          onChange={(event) => setKey(event.target.value)}
        />
        <p id="key-about" className="quiet">
          It begins with <code>ibid_</code> and stays in this tab until you close it.
        </p>
        {problem && <ProblemNote problem={problem} />}
        <button type="submit" className="main" disabled={isAsking}>
          {isAsking ? 'Asking…' : 'Sign in'}
        </button>
      </form>
      <p className="quiet">
        No key yet? On the machine of the server:{' '}
        <code>ibid keys create --tenant acme --rights read,resolve</code>
      </p>
    </main>
  )
}
