/**
 * The held ones: what is known about each, and buttons to say what happened. Oldest first: they wait
 * longest.
 */
import { useState } from 'react'
import { type Api, pathTo } from '../api.js'
import type { Sight } from '../frame.js'
import { ProblemNote } from '../parts/problem-note.js'
import { type Choice, CHOICES, ResolveForm } from '../parts/resolve-form.js'
import { linkToReceipt } from '../place.js'
import type { Address, History, Page, ReceiptView } from '../shapes.js'
import { lastHeld } from '../use-decisions.js'
import { useLoaded } from '../use-loaded.js'
import { ago, dateTime, RECOVERY_MEANS } from '../wording.js'

const MOST = 100

export function HeldView({ api, me, tenant, decisions }: Sight) {
  const path = pathTo('/v1/held', { tenant, limit: String(MOST) })
  const { value, problem, reload } = useLoaded<Page>(api, path, 15_000, lastHeld(decisions))
  const [done, setDone] = useState<Address>()
  const receipts = value?.receipts.toSorted((a, b) => a.at - b.at)
  return (
    <>
      <h1>Held</h1>
      <p className="quiet">
        Nobody knows whether these happened, so nothing runs under their keys until a person says what
        happened. They never expire by themselves.
      </p>
      {problem && <ProblemNote problem={problem} />}
      <div role="status">
        {done && (
          <p className="note good">
            <a href={linkToReceipt(done)}>{done.key}</a> is resolved, and who and why are on record.
          </p>
        )}
        {receipts?.length === 0 && (
          <p className="note good">Nothing is held. Nobody has to decide anything.</p>
        )}
        {!value && !problem && <p>Looking…</p>}
      </div>
      {receipts?.map((receipt) => (
        <HeldOne
          key={`${receipt.tenant}\n${receipt.scope}\n${receipt.key}\n${receipt.epoch}`}
          api={api}
          receipt={receipt}
          mayResolve={me.rights.includes('resolve')}
          onResolved={() => {
            setDone(receipt)
            reload()
          }}
        />
      ))}
      {value?.cursor !== undefined && (
        <p className="quiet">These are the first {MOST}. There are more; they show as these are resolved.</p>
      )}
    </>
  )
}

function HeldOne({
  api,
  receipt,
  mayResolve,
  onResolved,
}: {
  readonly api: Api
  readonly receipt: ReceiptView
  readonly mayResolve: boolean
  readonly onResolved: () => void
}) {
  const { tenant, scope, key } = receipt
  const [choice, choose] = useState<Choice>()
  const known = useLoaded<History>(api, pathTo('/v1/receipt/history', { tenant, scope, key })).value?.events
  const held = known?.findLast(({ event }) => event === 'held' || event === 'swept')
  return (
    <article className="card held" aria-label={`${scope} ${key}`}>
      <h2>
        <a href={linkToReceipt(receipt)}>{key}</a>
      </h2>
      <p className="quiet">
        {scope} · {tenant}
      </p>
      <dl className="facts">
        <dt>Held</dt>
        <dd>
          <span title={dateTime(receipt.at)}>{ago(receipt.at, api.now())}</span>, in attempt {receipt.attempt}{' '}
          of {receipt.maxAttempts}
        </dd>
        <dt>What is known</dt>
        <dd>
          {held?.why === undefined ? 'the attempt ended without a word' : <q>{held.why}</q>}
          {held?.by !== undefined && <> (by {held.by})</>}
        </dd>
        <dt>Recovery</dt>
        <dd>{RECOVERY_MEANS[receipt.recovery]}</dd>
      </dl>
      {!mayResolve && <p className="quiet">A key with the right resolve can say what happened.</p>}
      {mayResolve && choice === undefined && (
        <div className="buttons">
          {(Object.keys(CHOICES) as Choice[]).map((one) => (
            <button key={one} type="button" onClick={() => choose(one)}>
              {CHOICES[one].name}
            </button>
          ))}
          <a href={linkToReceipt(receipt)}>Read its story</a>
        </div>
      )}
      {mayResolve && choice !== undefined && (
        <>
          <ResolveForm api={api} receipt={receipt} first={choice} onResolved={onResolved} />
          <button type="button" className="plain" onClick={() => choose(undefined)}>
            Not now
          </button>
        </>
      )}
    </article>
  )
}
