/**
 * An at-least-once queue in a folder: a message is a file, its name says from when it can be received. Whoever renames
 * the file has the message until the visibility time-out; a process that dies says nothing, and the message
 * comes again. Acknowledgements get lost where the storm says so.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LEASE_MS } from './leases.js'
import type { Order } from './storm.js'

export interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly order: Order
}

export interface Message extends Sent {
  /** The queue's own: the same when the message is delivered again, another when it was sent again. */
  readonly id: string
  /** 1 for the first. */
  readonly delivery: number
}

export interface Queue {
  send(message: Sent): void
  receive(most: number): readonly Message[]
  /** Not before `delayMs` from now. Also how a message is kept that is still being worked on. */
  postpone(message: Message, delayMs: number): void
  ack(message: Message): void
  /** To the dead letters, where a person looks. */
  bury(message: Message, why: string): void
  /** Messages that are not acknowledged, whoever has them. */
  readonly size: number
  dead(): readonly Order[]
}

interface Name {
  readonly visibleAtMs: number
  readonly delivery: number
  readonly id: string
}

const NAME = /^(\d+)\.(\d+)\.([\w-]+)$/

export function openQueue(folder: string, lostAcksOf: (charge: string) => number = () => 0): Queue {
  const [waiting, buried, drafts] = ['waiting', 'dead', 'drafts'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const each of [waiting, buried, drafts]) mkdirSync(each, { recursive: true })
  const held = new WeakMap<Message, Name>()

  /** False: somebody else was faster, or the message is gone. */
  function rename(from: Name, to: Name): boolean {
    try {
      renameSync(join(waiting, textOf(from)), join(waiting, textOf(to)))
      return true
    } catch {
      return false
    }
  }

  function read(name: Name): Message {
    const sent = JSON.parse(readFileSync(join(waiting, textOf(name)), 'utf8')) as Sent
    const message = { ...sent, id: name.id, delivery: name.delivery }
    held.set(message, name)
    return message
  }

  return {
    send(message) {
      const id = randomUUID()
      const draft = join(drafts, id)
      writeFileSync(draft, JSON.stringify(message))
      renameSync(draft, join(waiting, textOf({ visibleAtMs: Date.now(), delivery: 0, id })))
    },
    receive(most) {
      const now = Date.now()
      const messages: Message[] = []
      for (const name of namesIn(waiting)) {
        if (messages.length === most || name.visibleAtMs > now) break
        const mine = { ...name, visibleAtMs: now + LEASE_MS, delivery: name.delivery + 1 }
        if (rename(name, mine)) messages.push(read(mine))
      }
      return messages
    },
    postpone(message, delayMs) {
      const name = held.get(message)
      if (!name) return
      const later = { ...name, visibleAtMs: Date.now() + Math.ceil(delayMs) }
      if (rename(name, later)) held.set(message, later)
    },
    ack(message) {
      const name = held.get(message)
      if (name && message.delivery > lostAcksOf(message.order.charge))
        rmSync(join(waiting, textOf(name)), { force: true })
    },
    bury(message, why) {
      const name = held.get(message)
      if (!name) return
      writeFileSync(join(buried, message.id), JSON.stringify({ ...message, why }))
      rmSync(join(waiting, textOf(name)), { force: true })
    },
    get size() {
      return readdirSync(waiting).length
    },
    dead: () =>
      readdirSync(buried).map((id) => (JSON.parse(readFileSync(join(buried, id), 'utf8')) as Sent).order),
  }
}

function textOf({ visibleAtMs, delivery, id }: Name): string {
  return `${visibleAtMs}.${delivery}.${id}`
}

/** Those that can be received first, first. */
function namesIn(folder: string): readonly Name[] {
  return readdirSync(folder)
    .flatMap((text) => {
      const [, visibleAt, delivery, id] = NAME.exec(text) ?? []
      return id === undefined ? [] : [{ visibleAtMs: Number(visibleAt), delivery: Number(delivery), id }]
    })
    .toSorted((a, b) => a.visibleAtMs - b.visibleAtMs)
}
