/** The instances that are up, the deploys that kill them, and the balancer that finds one which is alive. */
import { IbidError } from '../../core/errors.js'
import { type Child, compiled, startChild } from '../../testing/process/start.js'
import type { InstanceSettings } from './instance.js'

export interface Fleet {
  /** In turn; undefined: none is alive. */
  instance(): string | undefined
  /** SIGKILL for the process with this id, if it is one of ours; the next version comes up in its place. */
  kill(pid: number): void
  killSlot(slot: number): void
  readonly kills: number
  /** What an instance died of that nobody killed. */
  readonly problem: IbidError | undefined
  /** Lets all of them finish. */
  close(): Promise<void>
}

interface Slot {
  child: Child
  url: string | undefined
}

export async function startFleet(size: number, settings: InstanceSettings): Promise<Fleet> {
  const script = compiled('./instance.js', import.meta.url)
  const killed = new Set<Child>()
  const restarts = new Set<Promise<void>>()
  let closing = false
  let problem: IbidError | undefined
  let turn = 0

  async function up(slot: Slot): Promise<void> {
    const { child } = slot
    void child.ended.then(() => {
      if (!closing && !killed.has(child)) problem ??= asProblem('it ended by itself')
    })
    try {
      slot.url = await child.call<string>('open', settings)
    } catch (error) {
      if (!killed.has(child)) problem ??= asProblem(error)
    }
  }

  function kill(slot: Slot | undefined): void {
    if (!slot || killed.has(slot.child)) return
    const { child } = slot
    killed.add(child)
    slot.url = undefined
    const restart = replace(slot).finally(() => restarts.delete(restart))
    restarts.add(restart)
  }

  async function replace(slot: Slot): Promise<void> {
    await slot.child.kill()
    slot.child = startChild(script)
    await up(slot)
  }

  const slots = Array.from({ length: size }, (): Slot => ({ child: startChild(script), url: undefined }))
  await Promise.all(slots.map(up))
  return {
    instance() {
      const alive = slots.flatMap(({ url }) => (url === undefined ? [] : [url]))
      return alive[turn++ % alive.length]
    },
    kill: (pid) => kill(slots.find(({ child }) => child.pid === pid)),
    killSlot: (slot) => kill(slots[slot]),
    get kills() {
      return killed.size
    },
    get problem() {
      return problem
    },
    async close() {
      closing = true
      await Promise.all(restarts)
      await Promise.all(slots.map(async ({ child }) => await child.end()))
    },
  }
}

function asProblem(error: unknown): IbidError {
  if (error instanceof IbidError) return error
  return new IbidError(`an instance of the demo did not start: ${String(error)}`, {
    code: 'DEMO_FAILED',
    retriable: false,
    action: 'see the message',
  })
}
