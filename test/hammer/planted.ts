/**
 * A small guard over HTTP that is right, and can be made wrong in one way at a time: each fault is one that
 * somebody has shipped. A restart closes the server and its connections and listens again at the same address,
 * with what a disk would have kept.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

export type Fault =
  | 'has no guard'
  | 'finds, then creates'
  | 'replays to any payload'
  | 'checks the payload only when it is done'
  | 'runs without a key'
  | 'has one record for all without a key'
  | 'has one record for all without a key, and compares'
  | 'limits amounts, and replays to any payload'
  | 'cuts keys at 255'
  | 'never ends with a long key'
  | 'refuses a long key that it knows'
  | 'breaks on long keys'
  | 'ignores case'
  | 'ignores keys with spaces'
  | 'forgets when the caller is gone'
  | 'forgets failures'
  | 'never ends after a failure'
  | 'replays with another status'
  | 'replays parsed and written anew'
  | 'replays without a content type'
  | 'believes a client that claims a replay'
  | 'has one key for all callers'
  | 'keeps results in memory'
  | 'runs again after a crash'
  | 'never recovers a crash'

interface Reply {
  readonly status: number
  readonly body: string
}
interface Kept {
  readonly body: string
  reply?: Reply
}

export interface Planted {
  readonly url: string
  readonly effects: () => number
  readonly restart: () => Promise<void>
}

const LEASE_MS = 300

export async function plant(fault: Fault | undefined): Promise<Planted> {
  const kept = new Map<string, Kept>()
  const has = (each: Fault): boolean => fault === each
  let effects = 0
  let life = 0
  let server = await listening(serve, 0)
  const { port } = server.address() as AddressInfo
  onTestFinished(() => void (server.closeAllConnections(), server.close()))

  async function work({ how }: { readonly how?: string }): Promise<Reply> {
    const number = ++effects
    await sleep(how === 'slow' ? 150 : 5)
    if (how === 'fail') return { status: 502, body: '{"error":"the provider timed out"}' }
    return { status: 201, body: `{"refund": ${number}}` }
  }

  function idOf(request: IncomingMessage, key: string): string {
    const tenant = has('has one key for all callers') ? '' : String(request.headers['x-tenant'])
    const cut = has('cuts keys at 255') ? key.slice(0, 255) : key
    return `${tenant} ${has('ignores case') ? cut.toLowerCase() : cut}`
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const born = life
    const { reply, isReplay } = await answer(request, response, born)
    if (born !== life) return
    response.statusCode = isReplay && has('replays with another status') ? 200 : reply.status
    if (!(isReplay && has('replays without a content type'))) {
      response.setHeader('content-type', 'application/json')
    }
    if (isReplay) response.setHeader('idempotency-replayed', 'true')
    const isNew = isReplay && has('replays parsed and written anew')
    response.end(isNew ? JSON.stringify(JSON.parse(reply.body)) : reply.body)
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    born: number,
  ): Promise<{ readonly reply: Reply; readonly isReplay: boolean }> {
    const first = (reply: Reply): { reply: Reply; isReplay: boolean } => ({ reply, isReplay: false })
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const payload = JSON.parse(body) as { readonly how?: string; readonly amount?: number }
    const isLimited = has('limits amounts, and replays to any payload')
    if (isLimited && Number(payload.amount) > 100) return first({ status: 400, body: '{}' })
    const given = request.headers['idempotency-key'] as string | undefined
    if (has('has no guard') || (given?.includes(' ') && has('ignores keys with spaces'))) {
      return first(await work(payload))
    }
    if (request.headers['x-hit'] === 'true' && has('believes a client that claims a replay')) {
      return first({ status: 201, body: '{}' })
    }
    if (given === undefined && has('runs without a key')) return first(await work(payload))
    const compares = has('has one record for all without a key, and compares')
    const key = given ?? (has('has one record for all without a key') || compares ? 'none' : undefined)
    if (key === undefined) return first({ status: 400, body: '{}' })
    if (key.length > 1_000) return first({ status: has('breaks on long keys') ? 500 : 400, body: '{}' })
    const id = idOf(request, key)
    const found = kept.get(id)
    const isLong = key.length > 255
    if (found && isLong && has('refuses a long key that it knows')) return first({ status: 400, body: '{}' })
    if (found) return replayOf(found, given === undefined && !compares ? found.body : body)
    if (has('finds, then creates')) await sleep(5)
    const mine: Kept = { body }
    kept.set(id, mine)
    if (has('forgets when the caller is gone')) response.on('close', () => mine.reply ?? kept.delete(id))
    const reply = await work(payload)
    // A process that was killed writes nothing any more.
    if (born !== life) return first(reply)
    if (isLong && has('never ends with a long key')) return first(reply)
    if (reply.status >= 500 && has('forgets failures')) kept.delete(id)
    else if (reply.status < 500 || !has('never ends after a failure')) mine.reply = reply
    return first(reply)
  }

  function replayOf(found: Kept, body: string): { readonly reply: Reply; readonly isReplay: boolean } {
    const isLimited = has('limits amounts, and replays to any payload')
    const isOther = found.body !== body && !has('replays to any payload') && !isLimited
    const isChecked = found.reply !== undefined || !has('checks the payload only when it is done')
    if (isOther && isChecked) return { reply: { status: 422, body: '{}' }, isReplay: false }
    if (found.reply) return { reply: found.reply, isReplay: true }
    if (!isChecked) return { reply: { status: 201, body: '{}' }, isReplay: false }
    return { reply: { status: 409, body: '{}' }, isReplay: false }
  }

  /** What a lease that lapsed comes to: the outcome of what was running is not known. */
  function recover(): void {
    for (const [id, entry] of kept) {
      if (entry.reply) {
        if (has('keeps results in memory')) kept.delete(id)
      } else if (has('runs again after a crash')) kept.delete(id)
      else if (!has('never recovers a crash')) {
        setTimeout(() => (entry.reply = { status: 409, body: '{"retriable":false}' }), LEASE_MS)
      }
    }
  }

  return {
    url: `http://127.0.0.1:${port}/refunds`,
    effects: () => effects,
    async restart() {
      life++
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      recover()
      server = await listening(serve, port)
    },
  }
}

async function listening(
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  port: number,
): Promise<Server> {
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  )
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return server
}
