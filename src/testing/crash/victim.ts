/** The script of the crash matrix: makes one call under a policy, and dies at a point, or recovers what others left. */
import { createIbid, type Ibid, IbidError, type Policy } from '../../index.js'
import type { Store } from '../../store.js'
import { type Ledger, ledger } from '../ledger.js'
import { serve } from '../process/serve.js'
import type { TransactAccess } from '../store/bench.js'
import type { ChildContext } from '../store/child.js'
import { type CrashPoint, crashStep, crashStore, type Stop } from './crash-store.js'

/** `atomic`: effect and receipt in one transaction. The others are recovery policies. */
export type CrashPolicy = 'hold' | 'check' | 'retry' | 'atomic'

export interface CrashOrder {
  readonly module: string
  readonly context: ChildContext
  readonly policy: CrashPolicy
  readonly ledgerFile: string
  readonly key: string
  readonly leaseMs: number
}

export interface Recovered {
  readonly state: string
  readonly attempt: number
  /** How often the effect happened, as the ledger or, for `atomic`, the store's own data says. */
  readonly effects: number
  /** What the callers were told: a value, or the code of an error. */
  readonly answers: readonly string[]
}

interface Module {
  readonly default: (context: ChildContext) => Store | Promise<Store>
  readonly transact?: TransactAccess
}

/** Where an attempt ends, and how. */
interface Crash {
  readonly point: CrashPoint
  readonly stop?: Stop
}

/** A store and an engine on it. */
interface Opened {
  readonly store: Store
  readonly ibid: Ibid
  readonly access: TransactAccess | undefined
}

const INTENT = { scope: 'crash', payload: { amount: 1 } }
const MOST_TRIES = 5

async function open(
  { module, context }: Pick<CrashOrder, 'module' | 'context'>,
  crash?: Crash,
): Promise<Opened> {
  const opened = (await import(module)) as Module
  const store = await (crash?.stop ? shared(opened, context) : opened.default(context))
  const ibid = createIbid({
    store: crash ? crashStore(store, crash.point, crash.stop) : store,
    tenant: 'acme',
    housekeeping: false,
    cache: false,
  })
  return { store, ibid, access: opened.transact }
}

/** One for all that are stopped in this process, as in a program. */
const stores = new Map<string, Promise<Store>>()

function shared(opened: Module, context: ChildContext): Promise<Store> {
  const store = stores.get(context.id) ?? Promise.resolve(opened.default(context))
  stores.set(context.id, store)
  return store
}

async function perform(
  order: CrashOrder,
  ibid: Ibid,
  access: TransactAccess | undefined,
  crash?: Crash,
): Promise<string> {
  const intent = { ...INTENT, key: order.key }
  const terms = { lease: order.leaseMs, wait: '30s', window: '1h' } as const
  const effects = ledger(order.ledgerFile)
  if (order.policy !== 'atomic') {
    const effect = async (): Promise<string> =>
      await crashStep(
        crash?.point,
        'effect',
        () => {
          effects.append(order.key)
          return `effect ${effects.count(order.key)}`
        },
        crash?.stop,
      )
    return (await ibid.once(intent, effect, { ...terms, recovery: recoveryOf(order, effects) })).value
  }
  const work = async (tx: unknown): Promise<string> =>
    await crashStep(
      crash?.point,
      'effect',
      async () => {
        const before = ((await access?.read(tx, order.key)) as string | undefined) ?? ''
        await access?.write(tx, order.key, `${before}x`)
        return `effect ${before.length + 1}`
      },
      crash?.stop,
    )
  return (await ibid.transact(intent, work, terms)).value
}

function recoveryOf({ policy, key }: CrashOrder, effects: Ledger): NonNullable<Policy<string>['recovery']> {
  if (policy === 'hold' || policy === 'retry') return policy
  return { check: () => (effects.count(key) > 0 ? { found: true, value: 'effect 1' } : { found: false }) }
}

async function isStopped(order: CrashOrder, point: CrashPoint): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const crash: Crash = { point, stop: () => new Promise<never>(() => resolve(true)) }
    const performed = open(order, crash).then(({ ibid, access }) => perform(order, ibid, access, crash))
    performed.then(
      () => resolve(false),
      (error: unknown) => (isHeld(error) ? resolve(false) : reject(error)),
    )
  })
}

function isHeld(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'OUTCOME_UNKNOWN'
}

/** What recovers, by the id of the store: two engines over two handles, as in two processes. */
const kept = new Map<string, Promise<readonly [Opened, Opened]>>()

function rescuers(order: Pick<CrashOrder, 'module' | 'context'>): Promise<readonly [Opened, Opened]> {
  const { id } = order.context
  const pair = kept.get(id) ?? open(order).then(async (one) => [one, await open(order)] as const)
  kept.set(id, pair)
  return pair
}

async function closeRescuers(): Promise<void> {
  const pairs = await Promise.all(kept.values())
  await Promise.all(pairs.flat().map(async ({ ibid }) => await ibid.close()))
}

/** Both at once, then a duplicate of both, then the sweeper. */
async function recover(order: CrashOrder): Promise<Recovered> {
  const [one, two] = await rescuers(order)
  const first = await Promise.all(
    [one, two].map(async ({ ibid, access }) => await answer(order, ibid, access)),
  )
  await one.ibid.sweep()
  const again = await answer(order, two.ibid, two.access)
  const receipt = await two.ibid.get({ scope: INTENT.scope, key: order.key })
  const effects =
    order.policy === 'atomic' ? await countInStore(two, order.key) : ledger(order.ledgerFile).count(order.key)
  return {
    state: receipt?.state ?? 'absent',
    attempt: receipt?.attempt ?? 0,
    effects,
    answers: [...first, again],
  }
}

/** Of a caller who does as it is told: a rescuer slower than its lease asks for what the next one made of it. */
async function answer(order: CrashOrder, ibid: Ibid, access: TransactAccess | undefined): Promise<string> {
  for (let tried = 1; ; tried++) {
    try {
      return await perform(order, ibid, access)
    } catch (error) {
      if (tried === MOST_TRIES || !(await wasOvertaken(error, order, ibid))) return codeOf(error)
    }
  }
}

/** Did somebody take it over, or hold it, which keeps its epoch? Only then is there something else to ask for. */
async function wasOvertaken(error: unknown, { key }: CrashOrder, ibid: Ibid): Promise<boolean> {
  if (!(error instanceof IbidError) || error.code !== 'LEASE_LOST') return false
  const receipt = await ibid.get({ scope: INTENT.scope, key })
  const epoch = error.receipt?.epoch ?? Number.POSITIVE_INFINITY
  if (receipt?.epoch === epoch) return receipt.state === 'unknown'
  return receipt !== undefined && receipt.epoch > epoch
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

async function countInStore({ store, access }: Opened, key: string): Promise<number> {
  const written = await store.transact?.(async (tx) => await access?.read(tx, key))
  return ((written as string | undefined) ?? '').length
}

serve(
  {
    /** Answers only where the point was not reached. */
    async crash({ order, point }: { order: CrashOrder; point: CrashPoint }): Promise<string> {
      const { ibid, access } = await open(order, { point })
      try {
        return await perform(order, ibid, access, { point })
      } finally {
        await ibid.close()
      }
    },
    /** Many at once, each stopped at its point. Answers which of them got there; then it is for the parent to kill. */
    async stop(all: readonly { order: CrashOrder; point: CrashPoint }[]): Promise<readonly boolean[]> {
      return await Promise.all(all.map(async ({ order, point }) => await isStopped(order, point)))
    },
    async prepare(order: Pick<CrashOrder, 'module' | 'context'>): Promise<void> {
      const [{ ibid }] = await rescuers(order)
      await ibid.get({ scope: INTENT.scope, key: 'nothing' })
    },
    recover,
  },
  closeRescuers,
)
