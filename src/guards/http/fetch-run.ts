/**
 * A handler over Fetch, to its end. Whatever comes of it ends the run: a response, a body that breaks, something
 * thrown, be it an error or not. When its time is up the answer is given at once, and what comes later is dropped.
 */
import { record, toResponse } from './fetch-response.js'
import type { Run } from './run.js'

export function perform(run: Run, respond: () => Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    let isLate = false
    run.onInterrupt((answer) => {
      isLate = true
      resolve(toResponse(answer))
    })
    async function respondAndRecord(): Promise<Response> {
      try {
        const response = await respond()
        // Not even read: it may be the answer that was given in its place.
        return isLate ? response : await record(response, run)
      } catch (error) {
        const answer = await run.fail(error)
        if (answer) return toResponse(answer)
        throw error
      }
    }
    respondAndRecord().then(resolve, reject)
  })
}
