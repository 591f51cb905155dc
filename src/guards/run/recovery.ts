/**
 * Runs whose worker died, found and taken up by a worker that has their code. No clock is compared: a lease that did
 * not move for its whole length, as measured here, is over by every clock; one that ends where it began was given up.
 * What was seen may be old when it is acted upon: the claim says of which receipt it is, and starts none anew.
 */
import type { ReceiptView } from '../../core/receipt.js'
import { atWorkId, type Desk } from './desk.js'
import { nameOf, type RunName, runIdOf, runWhere, triggerWhere } from './names.js'
import { noSuchRun, notRegistered } from './refusals.js'
import { type Kept, startKept, type Started } from './start.js'

export interface Recovery {
  /** One look; resolves to the ids of the runs that it took up, which go on in the background. */
  look(): Promise<readonly string[]>
}

interface Sighting {
  readonly epoch: number
  readonly until: number | null
  readonly sinceMs: number
}

const PAGE = 500

export function createRecovery(desk: Desk, tenants: readonly (string | undefined)[]): Recovery {
  let sightings = new Map<string, Sighting>()

  /** Undefined: its lease may be alive. */
  function orphaned(receipt: ReceiptView, seen: Map<string, Sighting>): boolean {
    const id = atWorkId(receipt)
    if (desk.atWork.get(id)) return false
    if ((receipt.until ?? 0) <= receipt.at) return true
    const before = sightings.get(id)
    const same = before && before.epoch === receipt.epoch && before.until === receipt.until
    const sighting = same
      ? before
      : { epoch: receipt.epoch, until: receipt.until, sinceMs: desk.timers.elapsedMs() }
    seen.set(id, sighting)
    return desk.timers.elapsedMs() - sighting.sinceMs >= receipt.leaseMs
  }

  async function takeUp(agent: string, receipt: ReceiptView): Promise<string | undefined> {
    const registered = desk.agents.find(agent, receipt.tenant)
    const name = { tenant: receipt.tenant, agent, key: receipt.key }
    const trigger = await desk.ibid.get(triggerWhere(name, receipt.fingerprint))
    if (!registered || trigger?.state !== 'succeeded' || trigger.value === undefined) return undefined
    if (desk.isClosing()) return undefined
    const terms = { ...registered.terms, duplicate: 'cached' } as const
    const seen = { terms, body: registered.body, seenAt: receipt.createdAt }
    const run = startKept(desk, name, trigger.value as Kept, seen)
    // How it ends stands in its receipt; whoever started it asks there.
    desk.counted(run).catch(() => undefined)
    return runIdOf(name, receipt.createdAt)
  }

  return {
    async look() {
      const seen = new Map<string, Sighting>()
      const taken: string[] = []
      for (const agent of desk.agents.names()) {
        for (const tenant of tenants) {
          let cursor: string | undefined
          do {
            const query = { tenant, scope: `run:${agent}`, state: 'pending', limit: PAGE, cursor } as const
            const page = await desk.ibid.list(query)
            const orphans = page.receipts.filter((receipt) => orphaned(receipt, seen))
            const ids = await Promise.all(orphans.map((receipt) => takeUp(agent, receipt)))
            taken.push(...ids.filter((id) => id !== undefined))
            cursor = page.cursor
          } while (cursor !== undefined)
        }
      }
      sightings = seen
      return taken
    },
  }
}

/** Goes on with a run that was given back, or that was held until now; `who` says that it may. */
export async function resume<T>(
  desk: Desk,
  runId: string,
  who: { readonly by: string; readonly why: string },
  tenantGiven: string | undefined,
): Promise<Started<T>> {
  const name: RunName = nameOf(runId, tenantGiven)
  const receipt = await desk.ibid.get(runWhere(name))
  if (!receipt || runIdOf({ ...name, tenant: receipt.tenant }, receipt.createdAt) !== runId) {
    throw noSuchRun(runId)
  }
  const registered = desk.agents.find(name.agent, receipt.tenant)
  if (!registered) throw notRegistered(name.agent)
  const at = { ...name, tenant: receipt.tenant }
  const trigger = await desk.ibid.get(triggerWhere(at, receipt.fingerprint))
  if (trigger?.value === undefined) throw noSuchRun(runId)
  if (receipt.state === 'unknown') await desk.ibid.resolve(runWhere(at), { as: 'released' }, who)
  const { terms, body } = registered
  const seen = { terms, body, seenAt: receipt.createdAt }
  return (await startKept(desk, at, trigger.value as Kept, seen)) as Started<T>
}
