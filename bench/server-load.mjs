/** What the server does a second, in a process of its own; what measure.mjs calls. */
import { execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { newKey, payloadOf, SCOPE } from './workload.mjs'

const run = promisify(execFile)
const here = (name) => fileURLToPath(new URL(name, import.meta.url))

async function serve(folder, ...flags) {
  const own = await mkdtemp(path.join(folder, 'server-'))
  const node = [
    '--max-semi-space-size=64',
    here('../dist/cli/main.js'),
    'serve',
    '--json',
    '--port',
    '0',
    '--log',
    'error',
  ]
  const child = spawn(process.execPath, [...node, '--store', `sqlite:${own}/ibid.db`, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  return { ...JSON.parse(line), kill: () => child.kill('SIGKILL') }
}

function post(url, key, agent, body) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body)
    const headers = { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(text) }
    const sending = request(`${url}/v1/claims`, { method: 'POST', agent, headers }, (answer) => {
      const chunks = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('end', () => resolve({ status: answer.statusCode, body: Buffer.concat(chunks) }))
    })
    sending.on('error', reject)
    sending.end(text)
  })
}

const intent = () => {
  const key = newKey()
  return { tenant: 'bench', scope: SCOPE, key, payload: payloadOf(key) }
}

/** Claims a second, and how long each request took. */
async function claimFor({ folder, seconds, connections, batch }) {
  const server = await serve(folder)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const turn = async (untilMs, times) => {
    while (performance.now() < untilMs) {
      const body = batch === 1 ? intent() : { claims: Array.from({ length: batch }, intent) }
      const startMs = performance.now()
      const answer = await post(server.url, server.key, agent, body)
      times.push(performance.now() - startMs)
      if (answer.status >= 300) throw new Error(answer.body.toString())
    }
  }
  const load = async (forSeconds) => {
    const times = []
    const startMs = performance.now()
    await Promise.all(Array.from({ length: connections }, () => turn(startMs + forSeconds * 1_000, times)))
    const rate = Math.round((times.length * batch * 1_000) / (performance.now() - startMs))
    return { rate, times: times.sort((a, b) => a - b) }
  }
  try {
    await load(seconds / 3)
    return await load(seconds)
  } finally {
    server.kill()
    agent.destroy()
  }
}

export const claimsPerSecond = async (settings) => (await claimFor(settings)).rate

export async function batchP99(settings) {
  const { times } = await claimFor(settings)
  return times[Math.floor(times.length * 0.99)]
}

/** Requests a second through a proxy to an app that knows nothing of it. */
export async function proxied({ folder, seconds, app, same = false }) {
  const origin = fork(here('./server-app.mjs'), ['origin'])
  const [originPort] = await once(origin, 'message')
  const upstream = `http://127.0.0.1:${originPort}`
  const plain = app === 'plain' ? fork(here('./server-app.mjs'), ['plain', upstream]) : undefined
  const server = plain ? undefined : await serve(folder, '--upstream', upstream, '--proxy-port', '0')
  const url = plain ? `http://127.0.0.1:${(await once(plain, 'message'))[0]}` : server.proxyUrl
  const load = async (time) => {
    const args = ['-t1', '-c128', `-d${time}s`, '-s', here('./http-post.lua'), `${url}/refunds`]
    const { stdout } = await run('wrk', same ? [...args, '--', 'same'] : args)
    if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`${app} failed under load:\n${stdout}`)
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)[1])
  }
  try {
    await load(Math.ceil(seconds / 4))
    return Math.round(await load(seconds))
  } finally {
    server?.kill()
    plain?.kill('SIGKILL')
    origin.kill('SIGKILL')
  }
}
