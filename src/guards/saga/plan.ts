/**
 * The plan of a saga: for each step a receipt that is settled before the step runs, and that holds the keys of its
 * `do` and its `undo`, its place in the order and its input. All of them share one scope, so that any process finds
 * them; one more receipt there, the marker, says that the rollback has begun and that no step may start any more.
 */
import type { Ibid, Where } from '../../ibid.js'
import { canonicalJson, deriveKey, fingerprint, type KeyPart } from '../../key/index.js'
import { invalidIntent } from '../../core/errors.js'
import type { Step } from './step.js'

export interface SagaNames {
  readonly tenant: string | undefined
  readonly workflowId: string
  readonly jobId: string | undefined
}

/** What is written down before a step runs. */
export interface Plan {
  readonly name: string
  /** Later steps have higher ones, also across processes. */
  readonly index: number
  readonly doKey: string
  readonly undoKey: string
  readonly input: unknown
}

/** A plan, and when the store wrote it. */
export interface Planned extends Plan {
  readonly tenant: string
  readonly plannedAt: number
}

const ROLLBACK = 'rollback'
const PLAN = 'step:'
const LONGEST_SCOPE = 255
const PAGE = 1_000
/** Small enough for every store to keep: a plan whose input was lost could not be carried out. */
const LONGEST_INPUT = 65_536
/** A plan is a pure function of its intent: it may be made again as often as it takes. */
const FREELY = { recovery: 'retry', maxAttempts: 1_000_000, lease: '5s' } as const

export type Plans = ReturnType<typeof createPlans>

export function createPlans(ibid: Ibid, names: SagaNames, windowMs: number) {
  const { tenant, workflowId, jobId } = names
  const scope = scopeOf(names)
  const policy = { ...FREELY, window: windowMs }
  const at = (key: string): Where => ({ tenant, scope, key })
  let lastIndex: Promise<number> | undefined
  /** The highest place of a plan that was met: another process may have given it, from a count of its own. */
  let metIndex = -1

  async function highest(): Promise<number> {
    return Math.max(-1, ...(await all()).map(({ index }) => index))
  }

  /** Places are given in the order of the calls, behind all that was in the store and all that was met since. */
  async function nextIndex(): Promise<number> {
    const before = (lastIndex ??= highest())
    lastIndex = before.then((last) => Math.max(last, metIndex) + 1)
    // A store that did not answer is asked again by the next step.
    lastIndex.catch(() => (lastIndex = undefined))
    return await lastIndex
  }

  /** Settled when this returns; the first plan of a step stays its plan. */
  async function write({ name, topic, capability, input }: Step): Promise<Planned> {
    checkInput(name, input)
    const parts = defined({ workflow: workflowId, job: jobId, topic, capability, step: name })
    const index = await nextIndex()
    const { value, receipt } = await ibid.once(
      { ...at(PLAN + name), payload: { ...parts, ...(input === undefined ? {} : { input }) } },
      (attempt): Plan => ({
        name,
        index,
        doKey: deriveKey({ tenant: attempt.tenant, layer: 'saga-do', ...parts }, null),
        undoKey: deriveKey({ tenant: attempt.tenant, layer: 'saga-undo', ...parts }, null),
        input,
      }),
      policy,
    )
    metIndex = Math.max(metIndex, value.index)
    return { ...value, tenant: receipt.tenant, plannedAt: receipt.at }
  }

  /**
   * Every settled plan, first step first. One that is still pending is left out: its step has not started, and
   * looks at the marker before it does.
   */
  async function all(): Promise<readonly Planned[]> {
    const found: Planned[] = []
    let cursor: string | undefined
    do {
      const page = await ibid.list({ tenant, scope, state: 'succeeded', limit: PAGE, cursor })
      const keys = page.receipts.map(({ key }) => key).filter((key) => key.startsWith(PLAN))
      const receipts = await Promise.all(keys.map(async (key) => await ibid.get(at(key))))
      for (const receipt of receipts) {
        if (receipt) found.push({ ...(receipt.value as Plan), tenant: receipt.tenant, plannedAt: receipt.at })
      }
      cursor = page.cursor
    } while (cursor !== undefined)
    return found.toSorted(
      (a, b) => a.index - b.index || a.plannedAt - b.plannedAt || (a.name < b.name ? -1 : 1),
    )
  }

  return {
    write,
    all,
    /** From here on no step starts that is not in `all()`. */
    async beginRollback(): Promise<void> {
      await ibid.once({ ...at(ROLLBACK), payload: null }, () => null, policy)
    },
    /** Asked of the store, never of a cache; a marker that is only just being written counts. */
    isRolledBack: async (): Promise<boolean> => (await ibid.get(at(ROLLBACK))) !== undefined,
  }
}

/** Where the receipts of a step's two halves are. */
export function halvesOf({ tenant, name, doKey, undoKey }: Planned): { forward: Where; undo: Where } {
  return {
    forward: { tenant, scope: `saga:${name}:do`, key: doKey },
    undo: { tenant, scope: `saga:${name}:undo`, key: undoKey },
  }
}

/** Readable where it fits. */
function scopeOf({ workflowId, jobId }: SagaNames): string {
  const names = jobId === undefined ? [workflowId] : [workflowId, jobId]
  const readable = `saga-plan:${names.map(encodeURIComponent).join('/')}`
  return readable.length <= LONGEST_SCOPE ? readable : `saga-plan:${fingerprint(names)}`
}

function defined(parts: Readonly<Record<string, KeyPart | undefined>>): Record<string, KeyPart> {
  return Object.fromEntries(
    Object.entries(parts).filter((part): part is [string, KeyPart] => part[1] !== undefined),
  )
}

function checkInput(name: string, input: unknown): void {
  if (input === undefined || canonicalJson(input).length <= LONGEST_INPUT) return
  throw invalidIntent(
    `the input of step ${JSON.stringify(name)} is longer than ${LONGEST_INPUT} characters`,
    'keep what is large elsewhere, and give the step its id',
  )
}
