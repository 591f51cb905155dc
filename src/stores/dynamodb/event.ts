/**
 * Audit events as items, and their place in the log: the time, then the order inside this process, then chance.
 * Events of several processes in one millisecond have no order among each other.
 */
import { randomBytes } from 'node:crypto'
import type { AuditEvent, AuditNote } from '../../core/audit.js'
import type { Receipt } from '../../core/receipt.js'
import type { Item } from './errors.js'
import { type Home, text } from './receipt.js'

/** Longer texts are cut: an error message that somebody passes on as a reason must not make a write fail. */
const MOST_CHARACTERS = 2_000

const TIME_DIGITS = 15
const ORDER_DIGITS = 5
const ID_CHARACTERS = 8

let lastMs = 0
let order = 0

/** A place in the log after every earlier one of this process and this millisecond. */
function placeAt(atMs: number): string {
  const wholeMs = Math.floor(atMs)
  order = wholeMs === lastMs ? order + 1 : 0
  lastMs = wholeMs
  return (
    timePlace(wholeMs) + order.toString(36).padStart(ORDER_DIGITS, '0') + randomBytes(6).toString('base64url')
  )
}

/** Sorts before every place at or after `atMs`. */
export function timePlace(atMs: number): string {
  return String(Math.max(0, Math.floor(atMs))).padStart(TIME_DIGITS, '0')
}

/** Enough of a place to know it again among those of a few seconds. */
export function idOf(place: string): string {
  return place.slice(-ID_CHARACTERS)
}

export function logKey(shard: number): string {
  return `log#${shard}`
}

export function eventOf(receipt: Receipt, note: AuditNote): AuditEvent {
  const { tenant, scope, key, at, state, epoch, attempt, fingerprint } = receipt
  return { tenant, scope, key, ...note, at, state, epoch, attempt, fingerprint, count: 1 }
}

/** The attributes that put an item into the log: an event's own, or the receipt's for its first claim. */
export function logged(event: AuditEvent, shard: number): Item {
  return {
    log: { S: logKey(shard) },
    place: { S: placeAt(event.at) },
    event: { S: JSON.stringify(pack(event)) },
  }
}

/** A list without names: a receipt carries one, and writes are paid by the kilobyte. */
type Packed = readonly [
  address: readonly [tenant: string, scope: string, key: string],
  event: AuditEvent['event'],
  at: number,
  state: AuditEvent['state'],
  epoch: number,
  attempt: number,
  fingerprint: string,
  count: number,
  by: string | null,
  why: string | null,
]

function pack(event: AuditEvent): Packed {
  const { tenant, scope, key, at, state, epoch, attempt, fingerprint, count, by, why } = event
  const words = [by === undefined ? null : cut(by), why === undefined ? null : cut(why)] as const
  return [[tenant, scope, key], event.event, at, state, epoch, attempt, fingerprint, count, ...words]
}

/** An item of its own for what `logged` made. */
export function eventItem({ pk }: Home, attributes: Item): Item {
  return { ...attributes, pk: { S: pk }, sk: { S: eventKey(text(attributes, 'place')) } }
}

export function eventKey(place: string): string {
  return `event#${place}`
}

export function toEvent(item: Item): AuditEvent {
  const packed = JSON.parse(text(item, 'event')) as Packed
  const [[tenant, scope, key], event, at, state, epoch, attempt, fingerprint, count, by, why] = packed
  const words = { ...(by !== null && { by }), ...(why !== null && { why }) }
  return { tenant, scope, key, event, at, state, epoch, attempt, fingerprint, count, ...words }
}

function cut(words: string): string {
  return words.length <= MOST_CHARACTERS ? words : `${words.slice(0, MOST_CHARACTERS).toWellFormed()}…`
}
