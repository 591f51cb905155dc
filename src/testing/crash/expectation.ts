/**
 * What each policy promises, whatever the point of the crash. Hold and check: never two effects. Retry: it may be
 * repeated, and the receipt's attempts account for it. Atomic: exactly one. And for all of them: no key is left
 * without an end, success is never claimed without an effect, and everyone is told the same: what an effect gave, or,
 * of a held key, that its outcome is not known.
 */
import type { CrashCell } from './crash-matrix.js'

export function violationOf(cell: CrashCell): string | undefined {
  const { policy, effects, state, attempt, answers } = cell
  if (state !== 'succeeded' && state !== 'failed' && state !== 'unknown') {
    return `the key is left ${state}: it must end settled or held`
  }
  if (state === 'succeeded' && effects === 0) return 'the receipt says succeeded, and nothing happened'
  if (policy !== 'retry' && effects > 1) return `the effect happened ${effects} times under ${policy}`
  if (policy === 'retry' && effects > attempt)
    return `the effect happened ${effects} times in ${attempt} attempts`
  if (policy === 'atomic' && (effects !== 1 || state !== 'succeeded')) {
    return `a transaction must end in exactly one effect: ${effects}, and the receipt is ${state}`
  }
  if (policy !== 'hold' && state !== 'succeeded')
    return `${policy} must get to an end by itself, and is ${state}`
  if (new Set(answers).size > 1)
    return `the callers were told different things: ${[...new Set(answers)].join(', ')}`
  const wrong = answers.find((told) => !isTrue(told, cell))
  return wrong === undefined ? undefined : `the receipt is ${state}, and the callers were told ${wrong}`
}

/** Effects are numbered as they happen, and each gives its number: see `perform`. */
function isTrue(told: string, { state, effects }: CrashCell): boolean {
  if (state === 'unknown') return told === 'OUTCOME_UNKNOWN'
  const number = Number(/^effect (\d+)$/.exec(told)?.[1])
  return state !== 'succeeded' || (number >= 1 && number <= effects)
}
