/** Requests per second of one app, in a process of its own, under wrk; what measure.mjs calls. */
import { execFile, fork } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = (name) => fileURLToPath(new URL(name, import.meta.url))

export async function requests({ app, folder, seconds, connections, same }) {
  // A file of its own: what an earlier round left in the middle, when its server was killed, is held there.
  const own = await mkdtemp(path.join(folder, `${app}-`))
  const server = fork(here('./http-app.mjs'), [app, own], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    const port = await new Promise((resolve, reject) => {
      server.once('message', resolve)
      server.once('exit', () => reject(new Error(`${app} did not start`)))
    })
    const load = async (time) => {
      const url = `http://127.0.0.1:${port}/refunds`
      const args = [
        '-t1',
        '--timeout',
        '30s',
        `-c${connections}`,
        `-d${time}s`,
        '-s',
        here('./http-post.lua'),
        url,
      ]
      const { stdout } = await run('wrk', same ? [...args, '--', 'same'] : args)
      if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`${app} failed under load:\n${stdout}`)
      return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)[1])
    }
    await load(Math.ceil(seconds / 4))
    return Math.round(await load(seconds))
  } finally {
    server.kill('SIGKILL')
  }
}
