/** `ibid/node`: the guard around a handler of plain `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGuard } from '../guards/http/guard.js'
import { type HttpOptions, attemptOf } from '../guards/http/index.js'
import { nodeExchange } from '../guards/http/node-exchange.js'
import { readAndPutBack } from '../guards/http/request-body.js'
import type { Run } from '../guards/http/run.js'
import { capture, sendAnswer } from '../guards/http/server-response.js'
import type { Ibid } from '../ibid.js'

export { attemptOf }

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown

/** `createServer(idempotent(ibid, options)(handler))`. A handler that throws answers 500; see the `error` listener. */
export function idempotent(
  ibid: Ibid,
  options: HttpOptions<IncomingMessage> = {},
): (handler: NodeHandler) => (request: IncomingMessage, response: ServerResponse) => void {
  const guard = createGuard(ibid, options)

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    handler: NodeHandler,
  ): Promise<void> {
    let run: Run | undefined
    try {
      const body = (): ReturnType<typeof readAndPutBack> => readAndPutBack(request, guard.maxRequestBytes)
      const opening = await guard.open(nodeExchange(request, request, body))
      if (opening?.kind === 'answer') return sendAnswer(response, opening.answer)
      run = opening
      if (run && !capture(response, run)) return
      await handler(request, response)
    } catch (error) {
      run?.heard(error)
      if (response.headersSent) response.destroy()
      else sendAnswer(response, FAILED)
    }
  }

  return (handler) => (request, response) => void serve(request, response, handler)
}

const FAILED = {
  status: 500,
  headers: ['content-type', 'application/problem+json', 'cache-control', 'no-store'],
  body: JSON.stringify({ type: 'about:blank', title: 'Internal Server Error', status: 500 }),
}
