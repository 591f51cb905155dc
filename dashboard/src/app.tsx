/** Who is here: nobody yet, somebody whose key is being asked about, or somebody who may look. */
import { useCallback, useMemo, useState } from 'react'
import { createApi } from './api.js'
import { Frame } from './frame.js'
import { ProblemNote } from './parts/problem-note.js'
import { currentKey, forgetKey, keepKey } from './session.js'
import type { Me } from './shapes.js'
import { useLoaded } from './use-loaded.js'
import { SignIn } from './views/sign-in.js'

export function App() {
  const [key, setKey] = useState(currentKey)
  const [wasRefused, setRefused] = useState(false)

  const leave = useCallback((refused: boolean) => {
    forgetKey()
    setRefused(refused)
    setKey(undefined)
  }, [])
  const enter = (given: string): void => {
    keepKey(given)
    setRefused(false)
    setKey(given)
  }

  if (key === undefined) return <SignIn onEnter={enter} wasRefused={wasRefused} />
  return <Inside key={key} apiKey={key} leave={leave} />
}

function Inside({ apiKey, leave }: { readonly apiKey: string; readonly leave: (refused: boolean) => void }) {
  const api = useMemo(() => createApi(apiKey, () => leave(true)), [apiKey, leave])
  const { value: me, problem } = useLoaded<Me>(api, '/v1/me')
  if (me) return <Frame api={api} me={me} onLeave={() => leave(false)} />
  return (
    <main className="alone">
      <h1>ibid</h1>
      {problem ? <ProblemNote problem={problem} /> : <p role="status">Asking the server…</p>}
      {problem && (
        <button type="button" onClick={() => leave(false)}>
          Use another key
        </button>
      )}
    </main>
  )
}
