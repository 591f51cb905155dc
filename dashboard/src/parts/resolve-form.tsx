/**
 * What a person says happened to a held receipt. It cannot be taken back, so each choice says what follows
 * from it, and nothing is sent without who and why.
 */
import { useId, useState } from 'react'
import type { Api, Problem } from '../api.js'
import { formText } from '../form-text.js'
import { recall, remember } from '../session.js'
import type { ReceiptView } from '../shapes.js'
import { ProblemNote } from './problem-note.js'

export const CHOICES = {
  succeeded: {
    name: 'It happened',
    means: 'Every retry gets the result that you give here. Nothing runs again.',
  },
  released: {
    name: 'It did not happen',
    means: 'The key is free: the next retry runs it. Be sure: if it did happen, it will happen twice.',
  },
  failed: {
    name: 'It was refused for good',
    means: 'Every retry gets this refusal. Nothing runs again.',
  },
} as const
export type Choice = keyof typeof CHOICES

export function ResolveForm({
  api,
  receipt,
  first,
  onResolved,
}: {
  readonly api: Api
  readonly receipt: ReceiptView
  readonly first?: Choice
  readonly onResolved: () => void
}) {
  const id = useId()
  const [choice, choose] = useState<Choice | undefined>(first)
  const [problem, setProblem] = useState<Problem>()
  const [isSending, setSending] = useState(false)

  async function send(form: FormData): Promise<void> {
    const text = (name: string): string => formText(form, name)
    const value = choice === 'succeeded' ? parsed(text('value')) : undefined
    if (value === UNREADABLE) return setProblem(NOT_JSON)
    if (text('by') === '' || text('why') === '') return setProblem(WHO_AND_WHY)
    const { tenant, scope, key, epoch } = receipt
    setSending(true)
    remember('by', text('by'))
    const said = await api.post('/v1/resolutions', {
      tenant,
      scope,
      key,
      epoch,
      as: choice,
      by: text('by'),
      why: text('why'),
      ...(choice === 'succeeded' && value !== undefined && { value }),
      ...(choice === 'failed' && {
        error: { message: text('message'), ...(text('code') !== '' && { code: text('code') }) },
      }),
    })
    setSending(false)
    if (said.ok) onResolved()
    else setProblem(said.problem)
  }

  return (
    <form
      className="card stack resolve"
      aria-labelledby={`${id}-title`}
      onSubmit={(event) => {
        event.preventDefault()
        void send(new FormData(event.currentTarget))
      }}
    >
      <h2 id={`${id}-title`}>What happened?</h2>
      <p className="quiet">
        Look downstream first: ask for <code>{receipt.key}</code> where the effect would be. What you say here
        is final.
      </p>
      <fieldset className="choices">
        <legend className="hidden">What happened</legend>
        {(Object.keys(CHOICES) as Choice[]).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="as"
              value={one}
              required
              checked={choice === one}
              onChange={() => choose(one)}
            />
            <span>
              <b>{CHOICES[one].name}</b>
              <small>{CHOICES[one].means}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {choice === 'succeeded' && (
        <label>
          The result that retries get, as JSON (empty: none)
          <textarea name="value" rows={3} spellCheck={false} placeholder='{ "refund": "re_1" }' />
        </label>
      )}
      {choice === 'failed' && (
        <div className="two">
          <label>
            Why it was refused
            <input name="message" required autoComplete="off" />
          </label>
          <label>
            Code (may be empty)
            <input name="code" autoComplete="off" spellCheck={false} placeholder="CARD_DECLINED" />
          </label>
        </div>
      )}
      <div className="two">
        <label>
          Who are you?
          <input name="by" required defaultValue={recall('by')} autoComplete="name" placeholder="mara@acme" />
        </label>
        <label>
          Why do you know?
          <input name="why" required autoComplete="off" placeholder="no refund in the ledger" />
        </label>
      </div>
      {problem && <ProblemNote problem={problem} />}
      <button type="submit" className="main" disabled={isSending || choice === undefined}>
        {isSending ? 'Resolving…' : choice ? `Resolve: ${CHOICES[choice].name.toLowerCase()}` : 'Resolve'}
      </button>
    </form>
  )
}

const UNREADABLE = Symbol('no JSON')
const NOT_JSON: Problem = {
  status: 0,
  code: 'NOT_JSON',
  detail: 'the result is not JSON; nothing was sent',
  action: 'write it as { "refund": "re_1" }, or a text in double quotes, or leave it empty',
}
const WHO_AND_WHY: Problem = {
  status: 0,
  code: 'WHO_AND_WHY',
  detail: 'who you are and why you know go on record; nothing was sent',
  action: 'fill in both',
}

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return UNREADABLE
  }
}
