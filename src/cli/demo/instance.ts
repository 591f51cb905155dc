/**
 * One instance of Harbor's service, a process of its own: takes webhooks and clicks, and works on the queue. The deploy
 * ends it with SIGKILL, whatever it is doing; it never hears of it.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeHandler } from '../../guards/webhook/index.js'
import { createIbid } from '../../index.js'
import { openStore } from '../../stores/open.js'
import { serve } from '../../testing/process/serve.js'
import { createAgent } from './agent.js'
import { guardedConsumer, openConsumer, startConsuming } from './consumer.js'
import { effectClient } from './effect-client.js'
import { guardedIngress, openIngress } from './ingress.js'
import type { Layer } from './layers.js'
import { openQueue } from './queue.js'
import { signedSource } from './signature.js'
import type { Charge } from './storm.js'

export interface InstanceSettings {
  readonly layers: readonly Layer[]
  readonly store: string
  readonly tenant: string
  readonly queueFolder: string
  readonly ledgerUrl: string
  readonly mailUrl: string
  readonly secret: string
  readonly charges: readonly Pick<Charge, 'charge' | 'lostAcks' | 'replans'>[]
}

let close: () => Promise<void> = async () => undefined

async function open(settings: InstanceSettings): Promise<string> {
  const { layers, store, tenant, secret } = settings
  const charges = new Map(settings.charges.map((charge) => [charge.charge, charge]))
  const queue = openQueue(settings.queueFolder, (charge) => charges.get(charge)?.lostAcks ?? 0)
  const ibid = layers.length === 0 ? undefined : createIbid({ store: openStore(store), tenant })
  const agent = createAgent({
    layers,
    ibid,
    ledger: effectClient(settings.ledgerUrl),
    mail: effectClient(settings.mailUrl),
    replansOf: (charge) => charges.get(charge)?.replans ?? 0,
  })
  const source = signedSource(secret)
  const isOn = (layer: Layer): boolean => layers.includes(layer)
  const ingress = ibid && isOn('ingress') ? guardedIngress(ibid, queue, source) : openIngress(queue, source)
  const consumer = ibid && isOn('queue') ? guardedConsumer(ibid, queue, agent) : openConsumer(queue, agent)
  const server = createServer(nodeHandler(ingress))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const consuming = startConsuming(queue, consumer)
  close = async () => {
    server.close()
    server.closeAllConnections()
    await consuming.stop()
    await agent.close()
    await ibid?.close()
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

serve({ open }, async () => await close())
