/**
 * A batch of one: what a lone caller claims and settles, by scripts without what several receipts need. Only for a
 * claim that leaves its stamps to the server, and a change that keeps what was claimed; scripts.ts says what receipts
 * and journal look like.
 */
import type { Draft } from '../../core/receipt.js'
import type { Swap } from '../../store.js'
import { asText, HAS_OUTCOME, keepsClaim, LETTERS, linesOf } from './codec.js'
import { noteLine } from './lines.js'
import { above, CLOCK, frontOf, hint, IS_AS_EXPECTED, KEPT, script } from './scripts.js'

/** KEYS: journal, floor, receipt. ARGV: state, duration, note, lines. Answers as CLAIM does. */
export const CLAIM_ONE = script(`${CLOCK}
local last = call('GET', KEYS[2])
local epoch = ${above('last')}
local stamps = epoch .. now
if call('SETNX', KEYS[3], ${frontOf('ARGV[1]', 'ARGV[2]')} .. stamps .. ARGV[4]) == 0 then
  return { now, us, 0, call('GET', KEYS[3]) }
end
call('XADD', KEYS[1], '*', us .. stamps, ARGV[3], ARGV[4], '')
return { now, epoch }
`)

/**
 * KEYS: journal, receipt. ARGV: the channel (empty: nothing ends), what is expected, and of whom, state, duration,
 * note, outcome. Answers as SWAP does.
 */
export const SWAP_ONE = script(`${CLOCK}
local there, as, token = call('GET', KEYS[2]), ARGV[2], ARGV[3]
if not (${IS_AS_EXPECTED}) then return { now, 0, '' } end
local kept = ${KEPT}
call('SET', KEYS[2], ${frontOf('ARGV[4]', 'ARGV[5]')} .. kept .. ARGV[7])
call('XADD', KEYS[1], '*', us, ARGV[6], kept, '')
if ARGV[1] ~= '' then ${hint('ARGV[1]', 'sub(KEYS[2], -22)')} end
return { now }
`)

/** What CLAIM_ONE is told; undefined where it cannot say what the draft asks for. */
export function claimArgs(draft: Draft, subject: string): readonly string[] | undefined {
  if (draft.epoch !== null || draft.createdAt !== null || draft.outcome !== null) return undefined
  return [...becomes(draft), linesOf(draft, subject)]
}

/** What SWAP_ONE is told, likewise. */
export function swapArgs(change: Swap, channel: string): readonly string[] | undefined {
  const { expect, next } = change
  if (!keepsClaim(change)) return undefined
  const ends = expect.state === 'pending' && next.state !== 'pending'
  const outcome = next.outcome === null ? '' : HAS_OUTCOME + next.outcome
  return [ends ? channel : '', asText(expect), JSON.stringify(expect.token), ...becomes(next), outcome]
}

function becomes({ state, forMs, audit }: Draft): readonly string[] {
  return [LETTERS[state], forMs === null ? '' : String(forMs), noteLine(audit, state, 1)]
}
