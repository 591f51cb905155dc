/** What must hold at the end of every run of two workers, whatever the schedule was: the promises, as a list. */
import { decodeOutcome } from '../../src/core/outcome.js'
import type { Result, Setting } from './two-workers.js'

export function problemsOf(result: Result, setting: Setting): string[] {
  const { landings, receipt, values, breaches } = result
  const found = [...breaches]
  const say = (isWrong: boolean, what: string): void => void (isWrong && found.push(what))

  say(receipt === undefined, 'there is no receipt')
  const state = receipt?.state ?? 'absent'
  say(state === 'pending', 'the key ended neither settled, released nor held')

  const settled =
    state === 'succeeded' && receipt?.outcome ? decodeOutcome(receipt.outcome) : { kind: 'none' as const }
  for (const value of values) {
    say(
      !landings.some((landing) => landing.value === value),
      `somebody has ${String(value)}, which never landed`,
    )
    say(settled.kind !== 'value', 'somebody has a value, and nothing is settled')
    say(settled.kind === 'value' && settled.value !== value, 'a caller has another value than the receipt')
  }

  const { length } = landings
  const zombie = landings.some(({ overtaken }) => overtaken)
  if (setting.policy === 'hold') say(length > 1, `hold: ${length} effects`)
  if (setting.policy === 'retry')
    say(length > (receipt?.attempt ?? 0), 'retry: more effects than attempts on record')
  if (setting.policy === 'check') {
    say(length > 1 && !zombie, `check: ${length} effects, and none was overtaken on its way`)
    say(length > 1 && setting.fences === true, `check: ${length} effects past a downstream that fences`)
  }
  return found
}
