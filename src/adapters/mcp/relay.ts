/**
 * The relay between a client and its MCP server, message by message. It takes out the calls of tools that write, the
 * cancellations of those that are under way, and the answers to its own questions; everything else passes as it came.
 */
import { randomUUID } from 'node:crypto'
import { createCatalogue, pageOf } from './catalogue.js'
import { type Guard, readCall, type ToolCall } from './guard.js'
import {
  answer,
  CODES,
  type Id,
  isLooseCall,
  type JsonObject,
  notificationOf,
  objectOf,
  refuse,
  refuseLooseCall,
  replyOf,
  type Reply,
  type Request,
  requestOf,
} from './message.js'
import { withKey } from './meta.js'

/** `carry`: whatever came with a message, and goes on with it where it passes. */
export interface Sides<Carry> {
  toClient(message: JsonObject): void
  toUpstream(message: JsonObject, carry: Carry | undefined): void
  /** As it came. */
  pass(message: unknown, carry: Carry): void
}

export interface Relay<Carry> {
  /** True: the relay sees to it. False: pass it on as it came. */
  takesFromClient(message: unknown, carry: Carry, principal: string): boolean
  takesFromUpstream(message: unknown): boolean
  /** Nobody will answer any more: what was sent has an unknown outcome. */
  upstreamGone(why: Error): void
  /** When everything that was sent has come to an end, and is written down. */
  idle(): Promise<void>
}

interface Pending {
  resolve(reply: Reply): void
  reject(error: Error): void
}

/** A call from its arrival to its answer. */
interface Call {
  /** The client does not wait for it any more. */
  withdrawn: boolean
  /** It passes, but is not to be cancelled. */
  direct: boolean
}

const LIST_TIMEOUT_MS = 10_000
const CHECK_TIMEOUT_MS = 60_000

export function createRelay<Carry>(guard: Guard, sides: Sides<Carry>): Relay<Carry> {
  const catalogue = createCatalogue()
  const calls = new Map<Id, Call>()
  /** What the upstream has and has not answered, also when nobody waits for it any more. */
  const sent = new Map<Id, Pending>()
  const lists = new Set<Id>()
  /** Requests of the client that passed, and have no answer yet: an answer under their ids is theirs. */
  const passed = new Set<Id>()
  const questions = new Map<Id, Pending>()
  const running = new Set<Promise<void>>()
  const prefix = `ibid:${randomUUID()}`
  let asked = 0
  let gone: Error | undefined

  async function ask(
    method: string,
    params: JsonObject,
    carry: Carry | undefined,
    withinMs: number,
  ): Promise<Reply> {
    if (gone) throw gone
    const id = `${prefix}:${++asked}`
    return await new Promise<Reply>((resolve, reject) => {
      const timer = setTimeout(() => reject(new RangeError(`${method} was not answered`)), withinMs)
      questions.set(id, { resolve, reject })
      sides.toUpstream({ jsonrpc: '2.0', id, method, params }, carry)
      timer.unref()
    }).finally(() => questions.delete(id))
  }

  async function askList(meta: JsonObject, cursor: string | undefined): Promise<JsonObject | undefined> {
    return pageOf(await ask('tools/list', listParams(meta, cursor), undefined, LIST_TIMEOUT_MS))
  }

  function send(id: Id, message: JsonObject, carry: Carry): Promise<Reply> {
    if (gone) return Promise.reject(gone)
    return new Promise<Reply>((resolve, reject) => {
      sent.set(id, { resolve, reject })
      sides.toUpstream(message, carry)
    })
  }

  async function run(request: Request, message: JsonObject, toolCall: ToolCall, call: Call, carry: Carry) {
    const { id, params } = request
    const { name, meta } = toolCall
    const listed = guard.wantsListing(name)
      ? await catalogue.find(name, async (cursor) => await askList(meta, cursor))
      : undefined
    const known = { ...toolCall, listed }
    const treatment = guard.treatmentOf(known)
    if (treatment !== 'receipted') {
      if (call.withdrawn) return
      sides.pass(message, carry)
      if (treatment === 'direct') keep(id, call)
      else passed.add(id)
      return
    }
    const reply = await guard.call(known, {
      dispatch: (key) => send(id, { ...message, params: withKey(params, meta, key) }, carry),
      ask: (tool, args) => ask('tools/call', askParams(meta, tool, args), carry, CHECK_TIMEOUT_MS),
    })
    if (!call.withdrawn) sides.toClient(answer(id, reply))
  }

  /** Until its answer has passed. */
  function keep(id: Id, call: Call): void {
    call.direct = true
    calls.set(id, call)
  }

  function takeCall(request: Request, message: JsonObject, carry: Carry, principal: string): boolean {
    const { id, params } = request
    const read = readCall(params)
    // The server says what is wrong with it.
    if (!read) return false
    const call: Call = { withdrawn: false, direct: false }
    const known = guard.wantsListing(read.name) ? catalogue.known(read.name) : undefined
    const toolCall = { ...read, principal, listed: known, isWithdrawn: () => call.withdrawn }
    const isSettled = known !== undefined || !guard.wantsListing(read.name)
    if (isSettled && guard.treatmentOf(toolCall) === 'read') return false
    calls.set(id, call)
    const done = run(request, message, toolCall, call, carry)
      .catch((error: unknown) => {
        sides.toClient(refuse(id, CODES.upstream, `it could not be carried out: ${String(error)}`))
      })
      .finally(() => {
        if (!call.direct) calls.delete(id)
        running.delete(done)
      })
    running.add(done)
    return true
  }

  function takeCancellation({ requestId }: JsonObject): boolean {
    const call = calls.get(requestId as Id)
    passed.delete(requestId as Id)
    if (!call) return false
    call.withdrawn = true
    return true
  }

  /** Two requests under one id would get each other's answers, and a write that of something else for its own. */
  function isUnderWay({ id, method }: Request): boolean {
    return calls.has(id) || sent.has(id) || (method === 'tools/call' && passed.has(id))
  }

  function takeReply(id: Id, reply: Reply): boolean {
    passed.delete(id)
    const question = questions.get(id)
    if (question) {
      question.resolve(reply)
      return true
    }
    if (lists.delete(id)) {
      if ('result' in reply) catalogue.learn(reply.result)
      return false
    }
    const waiting = sent.get(id)
    if (waiting) {
      sent.delete(id)
      waiting.resolve(reply)
      return true
    }
    const call = calls.get(id)
    if (!call?.direct) return false
    calls.delete(id)
    return call.withdrawn
  }

  return {
    takesFromClient(message, carry, principal) {
      if (isLooseCall(message)) {
        sides.toClient(refuseLooseCall())
        return true
      }
      const request = requestOf(message)
      if (request && isUnderWay(request)) {
        const why = `request ${JSON.stringify(request.id)} is still under way; nothing was sent`
        sides.toClient(refuse(request.id, CODES.request, why))
        return true
      }
      if (request?.method === 'tools/call' && takeCall(request, message as JsonObject, carry, principal))
        return true
      if (request) passed.add(request.id)
      if (request?.method === 'tools/list') lists.add(request.id)
      const notification = notificationOf(message)
      return notification?.method === 'notifications/cancelled' && takeCancellation(notification.params)
    },
    takesFromUpstream(message) {
      if (notificationOf(message)?.method === 'notifications/tools/list_changed') catalogue.forget()
      const replied = replyOf(message)
      return replied !== undefined && takeReply(replied.id, replied.reply)
    },
    upstreamGone(why) {
      gone ??= why
      for (const waiting of sent.values()) waiting.reject(why)
      sent.clear()
      for (const question of questions.values()) question.reject(why)
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

export function listParams(meta: JsonObject, cursor: string | undefined): JsonObject {
  return { ...(cursor === undefined ? {} : { cursor }), ...envelopeOf(meta) }
}

export function askParams(meta: JsonObject, tool: string, args: JsonObject): JsonObject {
  return { name: tool, arguments: args, ...envelopeOf(meta) }
}

/** Asked in the name of the call: revisions without a handshake want to know with each request who is asking. */
function envelopeOf(meta: JsonObject): { readonly _meta?: JsonObject } {
  const envelope = Object.entries(objectOf(meta)).filter(([name]) =>
    name.startsWith('io.modelcontextprotocol/'),
  )
  return envelope.length > 0 ? { _meta: Object.fromEntries(envelope) } : {}
}
