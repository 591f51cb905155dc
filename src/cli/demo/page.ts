/** The page on the demo's store, as `ibid serve` shows it: the same command, in a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { IbidError } from '../../core/errors.js'

export interface Page {
  /** Where to look; with a key where the store had none yet. */
  readonly url: string
  /** When the server has ended. */
  readonly closed: Promise<unknown>
  stop(): void
}

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))

/** The store goes by the environment: a command line can be seen by everybody on the machine. */
export async function openPage(store: string): Promise<Page> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--json', '--log', 'warn'], {
    env: { ...process.env, IBID_STORE: store },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'exit')
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>
  const said = await Promise.race([line, closed.then(() => undefined)])
  if (said === undefined) {
    throw new IbidError('the page did not start; the storm was not run', {
      code: 'DEMO_FAILED',
      retriable: true,
      action: 'see above; IBID_PORT is another port to listen on',
    })
  }
  const { url, key } = JSON.parse(said[0]) as { readonly url: string; readonly key?: string }
  return {
    url: key === undefined ? url : `${url}/#key=${key}`,
    closed,
    stop: () => void child.kill(),
  }
}
