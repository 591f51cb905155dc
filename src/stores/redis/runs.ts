/**
 * What a claim or a swap sends of its receipts: before each run of those that share the rest, what that is, and then of
 * each what is its own. Most batches are a run or two. The scripts read it (scripts.ts).
 *
 * A claim brings the three lines that the receipt will have, which are token, terms and whose it is. A swap brings the
 * token that it expects, and those three lines only where it does not keep what was claimed. The outcome follows.
 */
import type { Draft } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { asText, epochText, HAS_OUTCOME, instantText, keepsClaim, LETTERS, linesOf } from './codec.js'
import { noteLine, subjectLine } from './lines.js'

export interface Runs {
  /** `subject`: the line that says whose it is. */
  claim(draft: Draft, subject: string): void
  swap(change: Swap): void
  args(): readonly string[]
}

/** What all in it become, and what is expected of each. */
interface Run {
  count: number
  /** Where it stands among the arguments. */
  readonly place: number
  readonly state: Draft['state']
  readonly forMs: number | null
  readonly note: string
  readonly hasOutcome: boolean
  /** State, and `until` where it counts; empty: nothing is expected, it is a claim. */
  readonly as: string
  /** False: to be stamped. */
  readonly epoch: string | false
  readonly created: string | false
}

/** In the place of an epoch: the receipt keeps it, and with it all that was written with that claim. */
const KEEPS = '='

export function createRuns(): Runs {
  const args: string[] = []
  let run: Run | undefined

  /** Before what the receipt itself brings. */
  function begin(draft: Draft, as: string, keeps: boolean): void {
    const { state, forMs } = draft
    const note = noteLine(draft.audit, state, 1)
    const hasOutcome = draft.outcome !== null
    const epoch = keeps ? KEEPS : draft.epoch !== null && epochText(draft.epoch)
    const created = !keeps && draft.createdAt !== null && instantText(draft.createdAt)
    if (
      run?.state !== state ||
      run.forMs !== forMs ||
      run.note !== note ||
      run.hasOutcome !== hasOutcome ||
      run.as !== as ||
      run.epoch !== epoch ||
      run.created !== created
    ) {
      end()
      run = { count: 0, place: args.push('') - 1, state, forMs, note, hasOutcome, as, epoch, created }
    }
    run.count++
  }

  function end(): void {
    if (run !== undefined) args[run.place] = headOf(run)
  }

  return {
    claim(draft, subject) {
      begin(draft, '', false)
      args.push(linesOf(draft, subject))
      if (draft.outcome !== null) args.push(HAS_OUTCOME + draft.outcome)
    },
    swap(change) {
      const { expect, next } = change
      const keeps = keepsClaim(change)
      begin(next, asText(expect), keeps)
      args.push(JSON.stringify(expect.token))
      if (!keeps) args.push(linesOf(next, subjectLine(next)))
      if (next.outcome !== null) args.push(HAS_OUTCOME + next.outcome)
    },
    args() {
      end()
      return args
    },
  }
}

function headOf({ count, state, forMs, note, hasOutcome, as, epoch, created }: Run): string {
  const head = [count, LETTERS[state], forMs ?? '', note, hasOutcome]
  const rest = as === '' && !epoch && !created ? [] : [as, epoch, created]
  return JSON.stringify([...head, ...rest])
}
