/**
 * A handler over Fetch, to its end. Whatever comes of it ends the run: a response, a body that breaks, something
 * thrown, be it an error or not. When its time is up the answer is given at once, and what comes later is dropped.
 */
import { record, toResponse } from './fetch-response.js'
import type { Run } from './run.js'

export function perform(run: Run, respond: () => Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    let given: Response | undefined
    run.onInterrupt((answer) => {
      given = toResponse(answer)
      resolve(given)
    })
    async function respondAndRecord(): Promise<Response> {
      try {
        const response = await respond()
        if (!given) return await record(response, run)
        discard(response, given)
        return response
      } catch (error) {
        const answer = await run.fail(error)
        if (answer) return toResponse(answer)
        throw error
      }
    }
    respondAndRecord().then(resolve, reject)
  })
}

/** Nobody will read it, and whatever it comes from is let go. It may be the very answer that was given in its place. */
function discard({ body }: Response, given: Response): void {
  if (body && body !== given.body && !body.locked) body.cancel().catch(() => {})
}
