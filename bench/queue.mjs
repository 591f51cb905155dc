/**
 * One consumer, with the guard and without it: how many messages a second. Its handler makes one HTTP request, or,
 * where there is no `effect` to call, does next to nothing. The queue is filled first: the consumer is measured.
 */
import { once } from 'node:events'
import { AckPolicy, jetstream, jetstreamManager, RetentionPolicy } from '@nats-io/jetstream'
import { connect, headers } from '@nats-io/transport-node'
import { Queue, Worker } from 'bullmq'
import { createIbid } from 'ibid'
import { processor, withMessageKey as withJobKey } from 'ibid/bullmq'
import { consume, withMessageKey } from 'ibid/nats'
import { createDeliveries } from 'ibid/queue'
import { openStore } from 'ibid/stores'
import { newKey, payloadOf, resultOf, TENANT } from './workload.mjs'

const WAVE = 1_000

function openIbid(store) {
  return createIbid({ store: openStore(store), tenant: TENANT, housekeeping: false })
}

function handlerOf(effect) {
  if (effect === undefined) return async (body) => resultOf(body.payment)
  return async (body) => {
    const response = await fetch(effect, { method: 'POST', body: JSON.stringify(body) })
    return await response.json()
  }
}

/** So many messages before those that are timed, until the code is compiled; with the guard and without it. */
const withWarmUp = (count) => count * 2

/** The rate of the last `count` messages, when all have been handled. */
function counter(count) {
  let seen = 0
  let startMs = 0
  let full
  const rate = new Promise((resolve) => (full = resolve))
  return {
    rate,
    handled() {
      seen++
      if (seen === withWarmUp(count) - count) startMs = performance.now()
      if (seen === withWarmUp(count)) full(Math.round((count / (performance.now() - startMs)) * 1_000))
    },
  }
}

async function fill(count, publish) {
  for (let done = 0; done < count; done += WAVE) {
    await Promise.all(Array.from({ length: Math.min(WAVE, count - done) }, () => publish(newKey())))
  }
}

async function jetStreamOf({ url, count }) {
  const connection = await connect({ servers: url })
  const js = jetstream(connection)
  const jsm = await jetstreamManager(connection)
  const name = `bench-${newKey()}`
  await jsm.streams.add({ name, subjects: [name], retention: RetentionPolicy.Workqueue })
  await jsm.consumers.add(name, {
    durable_name: 'worker',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: 10_000,
  })
  await fill(withWarmUp(count), (key) =>
    js.publish(name, JSON.stringify(payloadOf(key)), { headers: withMessageKey(key, headers()) }),
  )
  return { connection, consumer: await js.consumers.get(name, 'worker') }
}

export async function jetStreamPlain({ callers, effect, ...settings }) {
  const handle = handlerOf(effect)
  const { connection, consumer } = await jetStreamOf(settings)
  const { rate, handled } = counter(settings.count)
  const messages = await consumer.consume({ max_messages: callers })
  // The adapter's own loop, with as many at a time; only the guard is missing.
  const deliveries = createDeliveries(
    async (message) => ({ kind: 'ack', value: await handle(message.json()) }),
    { ack: (message) => message.ack() },
    { onVerdict: handled },
  )
  async function run() {
    for await (const message of messages) {
      void deliveries.take(message)
      await deliveries.room(callers)
    }
  }
  const done = run()
  const perSecond = await rate
  await messages.close()
  await done
  await connection.close()
  return perSecond
}

export async function jetStreamGuarded({ callers, effect, store, ...settings }) {
  const handle = handlerOf(effect)
  const { connection, consumer } = await jetStreamOf(settings)
  const { rate, handled } = counter(settings.count)
  const ibid = openIbid(store)
  const running = await consume(ibid, consumer, {
    concurrency: callers,
    deadLetter: 'term',
    handle: (message) => handle(message.json()),
    onVerdict: handled,
  })
  const perSecond = await rate
  await running.stop()
  await connection.close()
  await ibid.close()
  return perSecond
}

async function bullmqOf({ url, count }, processorOf, callers) {
  const { hostname: host, port } = new URL(url)
  const connection = { host, port: Number(port) }
  const name = `bench-${newKey()}`
  const queue = new Queue(name, { connection })
  const all = withWarmUp(count)
  for (let done = 0; done < all; done += WAVE) {
    const jobs = Array.from({ length: Math.min(WAVE, all - done) }, () => {
      const key = newKey()
      return { name: 'job', data: withJobKey(key, payloadOf(key)), opts: { removeOnComplete: true } }
    })
    await queue.addBulk(jobs)
  }
  const { rate, handled } = counter(count)
  const worker = new Worker(name, processorOf, { connection, concurrency: callers, autorun: false })
  worker.on('completed', handled)
  const stopped = worker.run()
  const perSecond = await rate
  const closed = once(worker, 'closed')
  await worker.close()
  await Promise.all([stopped, closed])
  await queue.close()
  return perSecond
}

export function bullmqPlain({ callers, effect, ...settings }) {
  const handle = handlerOf(effect)
  return bullmqOf(settings, ({ data }) => handle(data), callers)
}

export async function bullmqGuarded({ callers, effect, store, ...settings }) {
  const handle = handlerOf(effect)
  const ibid = openIbid(store)
  const guarded = processor(ibid, { queue: 'bench', handle: ({ data }) => handle(data) })
  const perSecond = await bullmqOf(settings, guarded, callers)
  await ibid.close()
  return perSecond
}
