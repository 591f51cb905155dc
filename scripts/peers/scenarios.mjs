/**
 * The four scenarios. Each plays one story against one package, in processes of its own, and says what was seen:
 * `good` is what a caller who moves money can live with.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startWorker } from './workers.mjs'

const CALL = { tenant: 'acme', operation: 'refunds', key: 'wf_81:step_3', payload: { amount: 100 } }

function orderOf({ module, settings }, calls, { isHeld = false, policy = {} } = {}) {
  return {
    module,
    calls,
    isHeld,
    settings: { ...settings, ...policy },
    patienceMs: settings.lockMs * 3,
  }
}

async function calls(peer, list, policy) {
  return await startWorker(orderOf(peer, list, { policy })).outcomes()
}

function effectsIn({ settings: { folder } }) {
  const file = `${folder}/effects.log`
  return existsSync(file) ? readFileSync(file, 'utf8').length : 0
}

const told = ({ value, refused, waiting }) =>
  value === undefined ? (refused ?? `still ${waiting}`) : `refund ${value}`

/** A worker is paused past its lock and taken over; then it wakes up and finishes. */
export async function zombie(peer) {
  const policy = { recovery: 'retry' }
  const paused = startWorker(orderOf(peer, [CALL], { isHeld: true, policy }))
  await paused.effect
  paused.pause()
  await sleep(peer.settings.lockMs)
  const [taken] = await calls(peer, [CALL], policy)
  const [before] = await calls(peer, [CALL], policy)
  writeFileSync(`${peer.settings.folder}/go`, '')
  paused.resume()
  const [late] = await paused.outcomes()
  const [after] = await calls(peer, [CALL], policy)
  if (taken.value === undefined) {
    return {
      good: after.value !== undefined && after.value === late.value,
      text: `never taken over: the retry was told ${told(taken)}, and readers got ${told(after)} in the end`,
    }
  }
  const isSame = before.value === after.value
  return {
    // The same error twice is no result that was kept.
    good: isSame && after.value !== undefined,
    text: isSame
      ? `the late worker got ${told(late)}; readers kept seeing ${told(after)}`
      : `readers saw ${told(before)}, and after the late worker ${told(after)}`,
  }
}

/** The same key, with another payload. */
export async function mismatch(peer) {
  const [first, other] = await calls(peer, [CALL, { ...CALL, payload: { amount: 999 } }])
  const isReplay = other.value !== undefined && other.value === first.value
  return {
    good: other.refused !== undefined && effectsIn(peer) === 1,
    text: isReplay
      ? 'the other payload got the first result'
      : other.value === undefined
        ? `refused: ${told(other)}`
        : 'the other payload was executed',
  }
}

/**
 * SIGKILL between the effect and its completion; then the same call again, for as long as a lock lasts, three
 * times over.
 */
export async function crash(peer) {
  const victim = startWorker(orderOf(peer, [CALL], { isHeld: true }))
  await victim.effect
  await victim.kill()
  const [retry] = await calls(peer, [CALL])
  const effects = effectsIn(peer)
  return {
    good: effects === 1 && retry.waiting === undefined,
    text: `${effects} ${effects === 1 ? 'effect' : 'effects'}; the retry was told ${told(retry)}`,
  }
}

/** Two tenants that use the same key for the same payload. */
export async function tenants(peer) {
  return await collision(peer, { tenant: 'umbrella' }, 'tenant')
}

/** Two operations that use the same key for the same payload. */
export async function operations(peer) {
  return await collision(peer, { operation: 'emails' }, 'operation')
}

async function collision(peer, difference, what) {
  const [first, other] = await calls(peer, [CALL, { ...CALL, ...difference }])
  if (other.value === undefined) return { good: true, text: `the other ${what} was refused: ${told(other)}` }
  const isApart = other.value !== first.value && effectsIn(peer) === 2
  return { good: isApart, text: isApart ? 'apart' : `the other ${what} got the first one’s result` }
}
