/**
 * One receipt's whole story: what it is, what came of it, the layers that its key went through, and every
 * decision.
 */
import { pathTo } from '../api.js'
import type { Sight } from '../frame.js'
import { Json } from '../parts/json.js'
import { ProblemNote } from '../parts/problem-note.js'
import { ResolveForm } from '../parts/resolve-form.js'
import { StateBadge } from '../parts/state-badge.js'
import { Story } from '../parts/story.js'
import { linkTo, linkToReceipt } from '../place.js'
import type { Address, Detail, ReceiptView, Timeline } from '../shapes.js'
import { lastAbout } from '../use-decisions.js'
import { useLoaded } from '../use-loaded.js'
import { ago, dateTime, RECOVERY_MEANS, span, STATE_MEANS } from '../wording.js'

/** A run counts its attempts itself, and its receipt has the largest limit that there is. */
const UNLIMITED = 1_000_000

export function ReceiptStory({ api, me, decisions, place }: Sight) {
  const { tenant = '', scope = '', key = '' } = Object.fromEntries(place.query) as Partial<Address>
  const version = lastAbout(decisions, { tenant, key })
  const found = useLoaded<{ readonly receipt: Detail | null }>(
    api,
    pathTo('/v1/receipt', { tenant, scope, key }),
    15_000,
    version,
  )
  const timeline = useLoaded<Timeline>(api, pathTo('/v1/receipt/timeline', { tenant, key }), 15_000, version)
  const receipt = found.value?.receipt
  const problem = found.problem ?? timeline.problem
  const mayResolve = me.rights.includes('resolve')
  const reload = (): void => {
    found.reload()
    timeline.reload()
  }

  return (
    <>
      <p className="crumbs">
        <a href={linkTo('receipts')}>Receipts</a> · {tenant} · {scope}
      </p>
      <h1 className="key">
        {key} {receipt && <StateBadge state={receipt.state} />}
      </h1>
      {problem && <ProblemNote problem={problem} />}
      {found.value && !receipt && (
        <p className="note">
          There is no such receipt: it was never made, or its window has ended. What was decided about it is
          below, as long as the log is kept.
        </p>
      )}
      {!found.value && !problem && <p role="status">Looking it up…</p>}
      <div className="pair story">
        <div>
          {receipt && <Facts receipt={receipt} nowMs={api.now()} />}
          {receipt?.state === 'unknown' &&
            (mayResolve ? (
              <ResolveForm api={api} receipt={receipt} onResolved={reload} />
            ) : (
              <p className="note">This key may look, but not resolve. A key with the right resolve may.</p>
            ))}
        </div>
        {timeline.value && (
          <div>
            <Chain receipts={timeline.value.receipts} here={{ tenant, scope, key }} nowMs={api.now()} />
            <Story events={timeline.value.events} scope={scope} />
          </div>
        )}
      </div>
    </>
  )
}

function Facts({ receipt, nowMs }: { readonly receipt: Detail; readonly nowMs: number }) {
  const { state, until } = receipt
  return (
    <section className="card" aria-label="The receipt">
      <p>{STATE_MEANS[state]}</p>
      <dl className="facts">
        <dt>In this state</dt>
        <dd>
          since {dateTime(receipt.at)} ({ago(receipt.at, nowMs)})
        </dd>
        <dt>Attempt</dt>
        <dd>
          {receipt.attempt}
          {receipt.maxAttempts < UNLIMITED && ` of at most ${receipt.maxAttempts}`}
        </dd>
        <dt>Recovery</dt>
        <dd>{RECOVERY_MEANS[receipt.recovery]}</dd>
        <dt>{state === 'pending' ? 'Lease' : 'Kept'}</dt>
        <dd>{keptUntil(receipt, until, nowMs)}</dd>
        <dt>First claimed</dt>
        <dd>{dateTime(receipt.createdAt)}</dd>
        <dt>Fingerprint</dt>
        <dd>
          <code className="long">{receipt.fingerprint}</code>
        </dd>
        <dt>Fencing epoch</dt>
        <dd>
          <code>{receipt.epoch}</code>
        </dd>
      </dl>
      {receipt.value !== undefined && (
        <>
          <h2>What it returned</h2>
          <Json name="What it returned" value={receipt.value} />
        </>
      )}
      {receipt.error && (
        <>
          <h2>Why it was refused</h2>
          <p>
            {receipt.error.message} {receipt.error.code !== undefined && <code>{receipt.error.code}</code>}
          </p>
          {receipt.error.data !== undefined && <Json name="Data of the refusal" value={receipt.error.data} />}
        </>
      )}
    </section>
  )
}

function keptUntil({ state, leaseMs }: ReceiptView, until: number | null, nowMs: number): string {
  if (until === null) return 'until somebody resolves it'
  if (state !== 'pending') return `until ${dateTime(until)}`
  const left = until - nowMs
  return left > 0
    ? `${span(leaseMs)}, of which ${span(left)} are left`
    : `${span(leaseMs)}, lapsed ${span(-left)} ago: nobody is at work on it any more`
}

function Chain({
  receipts,
  here,
  nowMs,
}: {
  readonly receipts: readonly ReceiptView[]
  readonly here: Address
  readonly nowMs: number
}) {
  if (receipts.length < 2) return null
  return (
    <section className="card" aria-labelledby="chain">
      <h2 id="chain">The same key in every layer, outermost first</h2>
      <ol className="chain">
        {receipts.map((one) => (
          <li key={one.scope}>
            <StateBadge state={one.state} />{' '}
            <a href={linkToReceipt(one)} aria-current={one.scope === here.scope ? 'true' : undefined}>
              {one.scope}
            </a>{' '}
            <span className="quiet">claimed {ago(one.createdAt, nowMs)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
