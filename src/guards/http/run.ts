/**
 * The one request that runs. Its adapter reports the response, or what the handler threw; the verdict on that ends
 * the attempt, and when the receipt is written the adapter hears what to send: the response, or something in its place.
 */
import { IbidError, NotExecuted, OutcomeUnknown, Rejected } from '../../core/errors.js'
import type { Attempt } from '../../core/policy.js'
import type { ReceiptView } from '../../core/receipt.js'
import type { Answer, Captured } from './exchange.js'
import { isKept, keep, type Kept, replayOf } from './kept.js'
import type { Settings } from './options.js'
import type { Verdict } from './verdict.js'

export interface Run {
  readonly kind: 'run'
  readonly attempt: Attempt
  readonly maxResponseBytes: number
  /** The response is complete. Resolves when that is written down: send it, or send the answer instead. */
  finish(captured: Captured): Promise<Answer | undefined>
  /** There will be no response. Resolves with what to send; undefined where the framework has to say it. */
  fail(error: unknown): Promise<Answer | undefined>
  /** What the handler threw on the way to its response. */
  heard(error: unknown): void
  /** The time is up, or the lease is lost, before there is a response: this is to be sent at once. */
  onInterrupt(tell: (answer: Answer) => void): void
}

/** The other side, for whoever holds the promise of `once`. */
export interface Running {
  readonly run: Run
  readonly ended: Promise<Kept>
  settled(value: unknown, receipt: ReceiptView): void
  refused(error: unknown): void
}

type Told = (answer: Answer | undefined) => void

export function startRun(
  attempt: Attempt,
  {
    verdictOf,
    allowed,
    maxResponseBytes,
  }: Pick<Settings<never>, 'verdictOf' | 'allowed' | 'maxResponseBytes'>,
  problem: (error: IbidError) => Answer,
): Running {
  let resolve: (kept: Kept) => void
  let reject: (error: unknown) => void
  let said: unknown
  let verdict: Verdict | 'thrown' | undefined
  let told: Told | undefined
  let interrupted: Answer | undefined
  let onInterrupt: Told | undefined
  const ended = new Promise<Kept>((done, failed) => {
    resolve = done
    reject = failed
  })

  function report(how: Verdict | 'thrown', end: () => void): Promise<Answer | undefined> {
    if (interrupted || verdict !== undefined) return Promise.resolve(interrupted)
    verdict = how
    return new Promise((tell) => {
      told = tell
      end()
    })
  }

  function interrupt(answer: Answer): void {
    interrupted = answer
    onInterrupt?.(answer)
  }

  return {
    ended,
    run: {
      kind: 'run',
      attempt,
      maxResponseBytes,
      finish(captured) {
        const how = verdictOfError(said) ?? verdictOf(captured.status)
        return report(how, () => {
          if (how === 'final') resolve(keep(captured, allowed))
          else if (how === 'release') reject(new NotExecuted(`the handler answered ${captured.status}`))
          else reject(said instanceof OutcomeUnknown ? said : unclear(captured.status))
        })
      },
      fail(error) {
        said = error
        return report('thrown', () => reject(error))
      },
      heard(error) {
        said = error
      },
      onInterrupt(tell) {
        onInterrupt = tell as Told
      },
    },
    settled(value, receipt) {
      // A status check found out what a response without a result had left open.
      const found = verdict !== 'final' && isKept(value) && value.body !== undefined ? value : undefined
      const answer = found && { status: found.status, headers: found.headers, body: found.body ?? '' }
      // Before there is a response: the time is up, and nobody would be told when the handler ends after all.
      if (told === undefined) interrupt(answer ?? replayOf(value, receipt, problem))
      else told(answer)
    },
    refused(error) {
      const known = error instanceof IbidError ? error : unclear(500)
      if (told === undefined) interrupt(problem(known))
      else if (verdict === 'final') told(problem(known))
      else told(verdict === 'thrown' && said instanceof IbidError ? problem(said) : undefined)
    },
  }
}

function verdictOfError(error: unknown): Verdict | undefined {
  if (error instanceof Rejected) return 'final'
  if (error instanceof NotExecuted) return 'release'
  return error instanceof OutcomeUnknown ? 'unknown' : undefined
}

function unclear(status: number): IbidError {
  return new IbidError(`the handler answered ${status}, which does not say whether the effect happened`, {
    code: 'UNCLEAR_RESPONSE',
    retriable: false,
    action: 'do not use a new key: what happens to this one is decided by its recovery policy',
  })
}
