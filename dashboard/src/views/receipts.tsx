/** Receipts, searched by tenant, scope, key, state and time. What was searched for stands in the address. */
import { type ReactNode, useState } from 'react'
import { type Api, pathTo, type Problem } from '../api.js'
import { formText } from '../form-text.js'
import type { Sight } from '../frame.js'
import { ProblemNote } from '../parts/problem-note.js'
import { ReceiptRows } from '../parts/receipt-rows.js'
import { linkTo } from '../place.js'
import type { Page, ReceiptView } from '../shapes.js'
import { useLoaded } from '../use-loaded.js'
import { STATE_WORDS } from '../wording.js'

const FIELDS = ['tenant', 'scope', 'q', 'state', 'since', 'until'] as const
const A_PAGE = '50'

export function ReceiptsView({ api, me, tenant, place }: Sight) {
  const asked = Object.fromEntries(FIELDS.map((name) => [name, place.query.get(name) ?? '']))
  if (asked['tenant'] === '') asked['tenant'] = tenant
  const path = pathTo('/v1/receipts', {
    ...asked,
    since: instant(asked['since']),
    until: instant(asked['until']),
    limit: A_PAGE,
  })
  return (
    <>
      <h1>Receipts</h1>
      <SearchForm key={place.query.toString()} asked={asked} isForEvery={me.tenant === '*'} />
      <Found key={path} api={api} path={path} isFiltered={Object.values(asked).some(Boolean)} />
    </>
  )
}

function SearchForm({
  asked,
  isForEvery,
}: {
  readonly asked: Readonly<Record<string, string>>
  readonly isForEvery: boolean
}) {
  return (
    <form
      className="card search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget)
        location.hash = linkTo(
          'receipts',
          Object.fromEntries(FIELDS.map((name) => [name, formText(form, name)])),
        )
      }}
    >
      {isForEvery && <Field name="tenant" label="Tenant" value={asked['tenant']} hint="every one" />}
      <Field name="scope" label="Scope" value={asked['scope']} hint="tool:issue_refund" />
      <Field name="q" label="Key, or a part of it" value={asked['q']} hint="wf_81:step_3" />
      <div>
        <label htmlFor="state">State</label>
        <select id="state" name="state" defaultValue={asked['state']}>
          <option value="">every state</option>
          {Object.entries(STATE_WORDS).map(([state, word]) => (
            <option key={state} value={state}>
              {word}
            </option>
          ))}
        </select>
      </div>
      <Field name="since" label="In its state since" value={asked['since']} type="datetime-local" />
      <Field name="until" label="In its state before" value={asked['until']} type="datetime-local" />
      <div className="buttons">
        <button type="submit" className="main">
          Search
        </button>
        <a href={linkTo('receipts')}>Clear</a>
      </div>
    </form>
  )
}

function Field({
  name,
  label,
  value,
  hint,
  type = 'text',
}: {
  readonly name: string
  readonly label: string
  readonly value: string | undefined
  readonly hint?: string
  readonly type?: string
}): ReactNode {
  return (
    <label>
      {label}
      <input
        name={name}
        type={type}
        defaultValue={value}
        placeholder={hint}
        autoComplete="off"
        spellCheck={false}
      />
    </label>
  )
}

/** The first page, and those that somebody asked for after it. */
function Found({
  api,
  path,
  isFiltered,
}: {
  readonly api: Api
  readonly path: string
  readonly isFiltered: boolean
}) {
  const first = useLoaded<Page>(api, path)
  const [more, setMore] = useState<readonly Page[]>([])
  const [trouble, setTrouble] = useState<Problem>()
  if (!first.value) {
    return first.problem ? <ProblemNote problem={first.problem} /> : <p role="status">Searching…</p>
  }
  const pages = [first.value, ...more]
  const receipts: readonly ReceiptView[] = pages.flatMap((page) => page.receipts)
  const cursor = pages.at(-1)?.cursor

  async function next(): Promise<void> {
    const said = await api.get<Page>(`${path}&${new URLSearchParams({ cursor: cursor ?? '' }).toString()}`)
    setTrouble(said.ok ? undefined : said.problem)
    if (said.ok) setMore([...more, said.value])
  }

  return (
    <section className="card" aria-label="Found">
      <p role="status" className="quiet">
        {receipts.length === 0 && cursor === undefined
          ? isFiltered
            ? 'No receipt matches. Receipts are forgotten when their window ends; what was decided stays in the log.'
            : 'There are no receipts yet. The first claim makes one.'
          : `${receipts.length} shown${cursor === undefined ? ', and these are all' : ', and there may be more'}`}
      </p>
      <ReceiptRows receipts={receipts} nowMs={api.now()} />
      {trouble && <ProblemNote problem={trouble} />}
      {cursor !== undefined && (
        <button type="button" onClick={() => void next()}>
          Show more
        </button>
      )}
    </section>
  )
}

/** What a person chose is by their own clock and place; the API takes a point in time. */
function instant(local: string | undefined): string | undefined {
  const ms = Date.parse(local ?? '')
  return Number.isNaN(ms) ? undefined : String(ms)
}
