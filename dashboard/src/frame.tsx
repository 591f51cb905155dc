/**
 * What stands around every view: the name, the ways to the views, the tenant that is looked at, and whether
 * it is live.
 */
import { useEffect, useRef, useState } from 'react'
import { type Api, pathTo } from './api.js'
import type { StreamState } from './event-stream.js'
import { linkTo, type Place, usePlace } from './place.js'
import { recall, remember } from './session.js'
import type { Me, Page } from './shapes.js'
import { type Decisions, lastHeld, useDecisions } from './use-decisions.js'
import { useLoaded } from './use-loaded.js'
import { HeldView } from './views/held.js'
import { NowView } from './views/now.js'
import { ReceiptStory } from './views/receipt.js'
import { ReceiptsView } from './views/receipts.js'
import { StoreView } from './views/store.js'
import { TroubleView } from './views/trouble.js'

/** What every view is given. */
export interface Sight {
  readonly api: Api
  readonly me: Me
  /** Empty: every tenant that the key is for. */
  readonly tenant: string
  readonly decisions: Decisions
  readonly place: Place
}

const VIEWS = [
  ['now', 'Now'],
  ['held', 'Held'],
  ['receipts', 'Receipts'],
  ['trouble', 'Trouble'],
  ['store', 'Store'],
] as const

const LIVE: Readonly<Record<StreamState, string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Not live: the connection is lost',
}
const MOST_HELD = 100

export function Frame({
  api,
  me,
  onLeave,
}: {
  readonly api: Api
  readonly me: Me
  readonly onLeave: () => void
}) {
  const [tenant, setTenant] = useState(me.tenant === '*' ? recall('tenant') : '')
  const decisions = useDecisions(api, tenant)
  const place = usePlace()
  const main = useRef<HTMLElement>(null)
  const heldPath = pathTo('/v1/held', { tenant, limit: String(MOST_HELD) })
  const held = useLoaded<Page>(api, heldPath, 15_000, lastHeld(decisions)).value?.receipts.length ?? 0
  useTitle(place.view, held)
  useFocusOnArrival(place, main)

  const choose = (name: string): void => {
    remember('tenant', name)
    setTenant(name)
  }
  const sight: Sight = { api, me, tenant, decisions, place }
  return (
    <>
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header className="top">
        <a className="brand" href={linkTo('now')}>
          ibid<span aria-hidden="true">.</span>
        </a>
        <nav aria-label="Views">
          {VIEWS.map(([view, name]) => (
            <a key={view} href={linkTo(view)} aria-current={isWithin(place.view, view) ? 'page' : undefined}>
              {name}
              {view === 'held' && held > 0 && (
                <span className="count" aria-label={`${held} waiting`}>
                  {held === MOST_HELD ? `${held}+` : held}
                </span>
              )}
            </a>
          ))}
        </nav>
        <div className="session">
          <span className={`stream ${decisions.state}`} role="status">
            {LIVE[decisions.state]}
          </span>
          {me.tenant === '*' ? (
            <TenantField tenant={tenant} onChoose={choose} />
          ) : (
            <span className="quiet">tenant {me.tenant}</span>
          )}
          <button type="button" className="plain" onClick={onLeave}>
            Sign out
          </button>
        </div>
      </header>
      <main ref={main} tabIndex={-1}>
        <View sight={sight} />
      </main>
      <footer className="quiet">
        ibid {me.version}. Key {me.keyId.slice(0, 6)}…, with {me.rights.join(', ')}. Times are those of this
        device; receipts go by the clock of their store.
      </footer>
    </>
  )
}

function View({ sight }: { readonly sight: Sight }) {
  switch (sight.place.view) {
    case 'now':
      return <NowView {...sight} />
    case 'held':
      return <HeldView {...sight} />
    case 'receipts':
      return <ReceiptsView {...sight} />
    case 'receipt':
      return <ReceiptStory {...sight} />
    case 'trouble':
      return <TroubleView {...sight} />
    case 'store':
      return <StoreView {...sight} />
    default:
      return (
        <>
          <h1>Nothing here</h1>
          <p>
            This page has no such view. <a href={linkTo('now')}>See what is happening now</a>.
          </p>
        </>
      )
  }
}

function TenantField({
  tenant,
  onChoose,
}: {
  readonly tenant: string
  readonly onChoose: (name: string) => void
}) {
  const [text, setText] = useState(tenant)
  return (
    <form
      className="tenant"
      onSubmit={(event) => {
        event.preventDefault()
        onChoose(text.trim())
      }}
    >
      <label htmlFor="tenant">Tenant</label>
      <input
        id="tenant"
        value={text}
        placeholder="every tenant"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => onChoose(text.trim())}
      />
    </form>
  )
}

function isWithin(here: string, view: string): boolean {
  return here === view || (here === 'receipt' && view === 'receipts')
}

function useTitle(view: string, held: number): void {
  useEffect(() => {
    const name = VIEWS.find(([one]) => one === view)?.[1] ?? 'Receipt'
    document.title = `${held > 0 ? `(${held} held) ` : ''}${name} · ibid`
  }, [view, held])
}

/** Whoever follows a link with the keyboard goes on from the content, not from the link that is gone. */
function useFocusOnArrival(place: Place, main: React.RefObject<HTMLElement | null>): void {
  const here = `${place.view}?${place.query.toString()}`
  const last = useRef(here)
  useEffect(() => {
    if (last.current === here) return
    last.current = here
    main.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [here, main])
}
