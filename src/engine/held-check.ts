/**
 * A held receipt, met by a caller who has a status check: the check may say what a person would have to find out.
 * Returns when the receipt may have changed, and throws OUTCOME_UNKNOWN when it stays held.
 */
import { resolveDraft } from '../core/drafts.js'
import { outcomeUnknown } from '../core/errors.js'
import { encodeValue } from '../core/outcome.js'
import { type Receipt, asWritten, view } from '../core/receipt.js'
import { askCheckWithin } from './attempt.js'
import { answered, type Call, notice, type Room } from './room.js'

export async function checkHeld<T>(room: Room, call: Call<T>, found: Receipt): Promise<void> {
  const { check, timeoutMs } = call.terms
  if (!check) throw turnedAway(room, found, 'it is held until a person or a checker resolves it')
  const answer = await askCheckWithin(room, found, timeoutMs, check)
  if (answer.found === 'unclear') throw turnedAway(room, found, 'the status check could not tell')
  if (!answer.found && found.attempt >= found.maxAttempts) {
    const said = `the status check found nothing, but all ${found.maxAttempts} attempts are used up`
    throw turnedAway(room, found, said)
  }
  const next = answer.found
    ? resolveDraft(
        found,
        'succeeded',
        encodeValue(answer.value, room.store.maxOutcome),
        'check',
        'found downstream',
      )
    : resolveDraft(found, 'released', null, 'check', 'not found downstream')
  const asked = room.commit.swap({ expect: { token: found.token, state: 'unknown' }, next })
  const swapped = await answered(room, 'nothing was executed by this call', asked)
  if (!swapped.done) return
  room.telemetry.decided('resolved', found.scope)
  room.auditor.changed(asWritten(next, swapped.now, swapped.epoch), next.audit)
}

/** On record as one that came while the first was not settled: its state says that the first is held. */
function turnedAway(room: Room, found: Receipt, why: string): Error {
  notice(room, found, 'in_flight', { why })
  return outcomeUnknown(view(found), why)
}
