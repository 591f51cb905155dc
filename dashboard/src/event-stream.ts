/**
 * Decisions as the server takes them. Server-sent events, but read with fetch: the browser's own EventSource
 * cannot send a key. After a break it goes on where it was; at first it asks for what the server still
 * remembers.
 */
import { type Api, pathTo } from './api.js'
import type { AuditEvent } from './shapes.js'

export type StreamState = 'connecting' | 'live' | 'lost'

export interface StreamListener {
  event(event: AuditEvent): void
  state(state: StreamState): void
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 5_000

/** Returns how to stop. */
export function followDecisions(api: Api, tenant: string, listener: StreamListener): () => void {
  const ended = new AbortController()
  const { signal } = ended

  async function follow(): Promise<void> {
    let lastId = '0'
    let waitMs = FIRST_WAIT_MS
    while (!signal.aborted) {
      try {
        const path = pathTo('/v1/events', { tenant })
        const response = await api.open(path, { 'last-event-id': lastId }, signal)
        if (response.status === 401 || response.status === 403) return listener.state('lost')
        if (response.ok && response.body) {
          listener.state('live')
          waitMs = FIRST_WAIT_MS
          for await (const { id, data } of messages(response.body)) {
            lastId = id
            listener.event(JSON.parse(data) as AuditEvent)
          }
        }
      } catch {
        // Broken off: what follows is the same as after an end.
      }
      if (signal.aborted) return
      listener.state('lost')
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
    }
  }

  void follow()
  return () => ended.abort()
}

interface Message {
  readonly id: string
  readonly data: string
}

async function* messages(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<Message> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const message = messageOf(part)
      if (message) yield message
    }
  }
}

function messageOf(part: string): Message | undefined {
  const fields = new Map(
    part.split('\n').map((line) => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)] as const
    }),
  )
  const data = fields.get('data')
  return data === undefined ? undefined : { id: fields.get('id') ?? '0', data }
}
