/**
 * Is a recorded history of one receipt linearisable? Looks for an order of its operations in which each takes effect
 * at one instant between its call and its return, and each answer is what a conditional register would have given:
 * claim inserts if there is nothing, swap replaces if token and state are as expected, get reads.
 *
 * The search of Wing and Gong, with Lowe's memory of what was tried. Imports nothing: what it judges is not asked.
 */

/** What the register holds; undefined: nothing. `mark` is different for every write that has one. */
export interface Held {
  readonly token: string
  readonly state: string
  readonly mark: string | null
}

/** Where `answer` is missing, nobody knows whether it was done. */
export type Action =
  | {
      readonly verb: 'claim'
      readonly next: Held
      readonly answer?: { readonly won: true } | { readonly won: false; readonly found: Held }
    }
  | {
      readonly verb: 'swap'
      readonly expect: { readonly token: string; readonly state: string }
      readonly next: Held
      readonly answer?: { readonly done: boolean }
    }
  | { readonly verb: 'get'; readonly answer?: { readonly found: Held | undefined } }

export interface Operation {
  readonly key: string
  readonly process: string
  /** One clock for all processes. */
  readonly calledAt: number
  readonly returnedAt: number
  readonly action: Action
}

export type Linearized =
  | { readonly ok: true; readonly order: readonly Operation[] }
  /** `order` is the longest beginning that was found, `stuck` what could have come next and fits nowhere. */
  | { readonly ok: false; readonly order: readonly Operation[]; readonly stuck: readonly Operation[] }

/** The history of one key, in any order. */
export function linearize(history: readonly Operation[]): Linearized {
  const operations = history.toSorted((a, b) => a.calledAt - b.calledAt)
  const isDone = operations.map(() => false)
  const order: number[] = []
  let longest: number[] = []
  let stuck: number[] = []
  const tried = new Set<string>()

  /** Those that may come next: nothing that is still to come had returned before they were called. */
  function candidates(): number[] {
    let earliestReturn = Number.POSITIVE_INFINITY
    const open: number[] = []
    for (const [at, operation] of operations.entries()) {
      if (operation.calledAt > earliestReturn) break
      if (isDone[at]) continue
      open.push(at)
      if (operation.action.answer !== undefined)
        earliestReturn = Math.min(earliestReturn, operation.returnedAt)
    }
    return open.filter((at) => (operations[at] as Operation).calledAt <= earliestReturn)
  }

  /** What is left over may never have been done: those without an answer. */
  function isOver(): boolean {
    return operations.every(({ action }, at) => isDone[at] || action.answer === undefined)
  }

  function memo(held: Held | undefined): string {
    const first = isDone.indexOf(false)
    const beyond = isDone.flatMap((done, at) => (done && at > first ? [at] : []))
    return `${first} ${beyond.join()} ${held ? `${held.token} ${held.state} ${held.mark}` : ''}`
  }

  function search(held: Held | undefined): boolean {
    if (isOver()) return true
    const seen = memo(held)
    if (tried.has(seen)) return false
    tried.add(seen)
    const open = candidates()
    for (const at of open) {
      const step = apply((operations[at] as Operation).action, held)
      if (!step) continue
      isDone[at] = true
      order.push(at)
      if (search(step.held)) return true
      order.pop()
      isDone[at] = false
    }
    if (order.length >= longest.length) {
      longest = [...order]
      stuck = open
    }
    return false
  }

  const found = search(undefined)
  const named = (places: readonly number[]): Operation[] => places.map((at) => operations[at] as Operation)
  return found ? { ok: true, order: named(order) } : { ok: false, order: named(longest), stuck: named(stuck) }
}

/** What the register holds after an action; undefined where it could not have answered so. */
function apply(action: Action, held: Held | undefined): { readonly held: Held | undefined } | undefined {
  switch (action.verb) {
    case 'claim': {
      const { answer, next } = action
      if (answer === undefined) return { held: held ?? next }
      if (answer.won) return held === undefined ? { held: next } : undefined
      return isEqual(held, answer.found) ? { held } : undefined
    }
    case 'swap': {
      const { answer, expect, next } = action
      const fits = held !== undefined && held.token === expect.token && held.state === expect.state
      if (answer !== undefined && answer.done !== fits) return undefined
      return { held: fits ? next : held }
    }
    case 'get': {
      const { answer } = action
      return answer === undefined || isEqual(held, answer.found) ? { held } : undefined
    }
  }
}

function isEqual(one: Held | undefined, other: Held | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.token === other.token && one.state === other.state && one.mark === other.mark
}

/** The end of a history that has no order, for a person: what went before, and what fits nowhere. */
export function describeStuck({ order, stuck }: Extract<Linearized, { ok: false }>): string {
  const first = Math.min(...[...order, ...stuck].map(({ calledAt }) => calledAt))
  const line = ({ process, calledAt, returnedAt, action }: Operation): string =>
    `${(calledAt - first).toFixed(3)} – ${(returnedAt - first).toFixed(3)}  ${process}  ${JSON.stringify(action)}`
  return [
    `of ${order.length + stuck.length} operations and more, no order explains the answers; the last of a beginning:`,
    ...order.slice(-5).map((operation) => `  ${line(operation)}`),
    'and what could have come next, none of which fits:',
    ...stuck.map((operation) => `  ${line(operation)}`),
  ].join('\n')
}
