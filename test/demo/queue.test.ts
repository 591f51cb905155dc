/** The demo's queue: at least once, for several processes, by files alone. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Message, openQueue, type Queue } from '../../src/cli/demo/queue.js'
import { folder } from '../cli/command.js'

const order = (charge: string) => ({ charge, amountCents: 100, customer: 'c@example.com' })

async function next(queue: Queue): Promise<Message> {
  for (;;) {
    const [message] = queue.receive(1)
    if (message) return message
    await sleep(10)
  }
}

describe('the queue', () => {
  test('a message has one owner, and comes again when that one says nothing', async () => {
    const home = folder()
    const [one, other] = [openQueue(home), openQueue(home)]
    one.send({ headers: { a: 'b' }, order: order('ch_1') })
    const first = await next(one)
    expect(first).toMatchObject({ headers: { a: 'b' }, order: { charge: 'ch_1' }, delivery: 1 })
    expect(other.receive(10)).toEqual([])
    const again = await next(other)
    expect(again).toMatchObject({ id: first.id, delivery: 2 })
    // The first owner's word comes too late to take it away from the second.
    one.ack(first)
    expect(one.size).toBe(1)
    other.ack(again)
    expect(one.size).toBe(0)
  })

  test('two sends are two messages', async () => {
    const queue = openQueue(folder())
    for (const charge of ['ch_1', 'ch_1']) queue.send({ headers: {}, order: order(charge) })
    expect((await next(queue)).id).not.toBe((await next(queue)).id)
  })

  test('an acknowledgement is lost where the storm says so, and the next one counts', async () => {
    const queue = openQueue(folder(), () => 1)
    queue.send({ headers: {}, order: order('ch_1') })
    queue.ack(await next(queue))
    expect(queue.size).toBe(1)
    queue.ack(await next(queue))
    expect(queue.size).toBe(0)
  })

  test('postponed, it comes after that time; buried, it is a dead letter', async () => {
    const queue = openQueue(folder())
    queue.send({ headers: {}, order: order('ch_1') })
    queue.postpone(await next(queue), 0)
    const again = await next(queue)
    expect(again.delivery).toBe(2)
    queue.bury(again, 'nobody knows')
    expect(queue.size).toBe(0)
    expect(queue.dead()).toEqual([order('ch_1')])
  })
})
