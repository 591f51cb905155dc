/**
 * The server: its parts put together, its ports opened, and its stop. A stop takes no new connections, finishes
 * what is under way, sends home who only waits, and closes the store last; what does not end in time is left to
 * its lease.
 */
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, Server as Listener } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { unsafeStore } from '../core/errors.js'
import { createIbid, type Ibid } from '../ibid.js'
import type { Store } from '../store.js'
import { createApi, type Api } from './api.js'
import { createGatekeeper } from './api-keys.js'
import { createDecisions } from './decisions.js'
import { knowingFirst } from './first-payloads.js'
import { createLimits } from './limits.js'
import { createLog, type Log, shown } from './log.js'
import { createMeters } from './meters.js'
import { createModes } from './modes.js'
import { observedStore } from './observed-store.js'
import { createPage } from './page.js'
import { createProbes } from './probes.js'
import type { Premises } from './route.js'
import type { Settings } from './settings.js'
import { createStopping } from './stopping.js'

export interface RunningServer {
  readonly ibid: Ibid
  readonly url: string
  readonly proxyUrl: string | undefined
  readonly metricsUrl: string | undefined
  readonly routes: Api['routes']
  stop(): Promise<void>
}

/** Behind a balancer, the side that closes first must be the other one: most keep connections for a minute. */
const KEEP_ALIVE_MS = 75_000
const REQUEST_MS = 60_000

export async function startServer(store: Store, settings: Settings, version: string): Promise<RunningServer> {
  const log = createLog(settings.log)
  const meters = createMeters()
  const decisions = createDecisions()
  const stopping = createStopping()
  const ibid = knowingFirst(createIbid({ store: observedStore(store, meters), audit: decisions.sink }))
  const at: Premises = {
    ibid,
    settings,
    limits: createLimits(settings),
    decisions,
    meters,
    stopping,
    version,
  }
  const gatekeeper = createGatekeeper(ibid)
  const api = createApi(at, gatekeeper, log)
  const probes = createProbes(at, gatekeeper)
  const page = createPage()
  const modes = createModes(at, gatekeeper, log)

  function serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const url = incoming.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const query = mark < 0 ? '' : url.slice(mark + 1)
    if (path.startsWith('/v1/')) settle(outgoing, log, api.handle(incoming, outgoing, path, query))
    else if (probes.serves(path)) settle(outgoing, log, probes.handle(incoming, outgoing, path))
    else if (modes.handle(incoming, outgoing, path)) return
    else if (!page.serve(incoming, outgoing, path)) nothing(incoming, outgoing)
  }

  const servers: Server[] = []
  const underWay = new Set<ServerResponse>()
  async function open(handler: RequestListener, port: number): Promise<string> {
    const server = createServer(
      { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_MS },
      (incoming, outgoing) => {
        underWay.add(outgoing)
        outgoing.once('close', () => underWay.delete(outgoing))
        handler(incoming, outgoing)
      },
    )
    servers.push(server)
    server.listen(port, settings.host)
    await once(server, 'listening')
    const { host } = settings
    return `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
  }

  async function stop(): Promise<void> {
    const stopMs = performance.now() + settings.shutdown
    const until = async (isDone: () => boolean): Promise<void> => {
      while (!isDone() && performance.now() < stopMs) await sleep(10)
    }
    stopping.begin()
    // The close of an HTTP server takes a connection for idle whose answer is still on its way out, and cuts it off.
    for (const server of servers) Listener.prototype.close.call(server)
    await until(() => [...underWay].every((answer) => !answer.writableEnded))
    for (const server of servers) server.closeIdleConnections()
    await until(() => underWay.size - meters.waiters <= 0)
    // Whoever waits is woken by this, and gets what there is.
    const closed = ibid
      .close()
      .catch((error: unknown) => log.error('the store could not be closed', shown(error)))
    await Promise.race([closed, sleep(Math.max(stopMs - performance.now(), 100), undefined, { ref: false })])
    await until(() => underWay.size === 0)
    if (underWay.size > 0) log.warn('stopped before everything had ended', { left: underWay.size })
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
    modes.close()
    log.info('stopped')
  }

  try {
    const problems = (await ibid.check()).findings.filter(({ level }) => level === 'error')
    if (problems.length > 0)
      throw unsafeStore(problems.map((one) => `${one.message} (${one.remedy})`).join('; '))
    const url = await open(serve, settings.port)
    const proxyUrl = modes.proxy && (await open(modes.proxy, settings.proxyPort))
    const metricsUrl =
      settings.metricsPort === undefined ? undefined : await open(probes.metricsOnly, settings.metricsPort)
    log.info('listening', { url, proxyUrl, metricsUrl, store: store.name, version })
    return { ibid, url, proxyUrl, metricsUrl, routes: api.routes, stop }
  } catch (error) {
    for (const server of servers) server.close()
    await ibid.close().catch(() => {})
    throw error
  }
}

function settle(outgoing: ServerResponse, log: Log, handled: Promise<void>): void {
  handled.catch((error: unknown) => {
    log.error('a response could not be sent', shown(error))
    outgoing.destroy()
  })
}

function nothing(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume()
  outgoing
    .writeHead(404, { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' })
    .end('nothing here\n')
}
