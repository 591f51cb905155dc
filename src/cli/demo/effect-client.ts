/** Calls a downstream: one request, one time-out, and a question about what became of it. Decides nothing. */
import { startDeadline } from '../../guards/http/deadline.js'
import { IbidError } from '../../core/errors.js'
import type { CheckResult } from '../../core/policy.js'
import { DEADLINE_HEADER, INSTANCE_HEADER, type Wanted } from './effect-api.js'

export interface Done {
  readonly id: string
}

export interface EffectClient {
  /** Throws when there is no answer in time: then nobody knows. */
  post(wanted: Wanted, signal?: AbortSignal): Promise<Done>
  find(charge: string, reference: string): Promise<CheckResult<Done>>
}

export const REQUEST_TIMEOUT_MS = 1_000
/** A question may take longer: not to be answered would mean that a person has to look. */
const QUESTION_TIMEOUT_MS = 5_000

export function effectClient(url: string): EffectClient {
  return {
    async post(wanted, signal) {
      const time = startDeadline(REQUEST_TIMEOUT_MS, signal)
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          [INSTANCE_HEADER]: String(process.pid),
          [DEADLINE_HEADER]: String(Date.now() + REQUEST_TIMEOUT_MS),
        },
        body: JSON.stringify(wanted),
        signal: time.signal,
      })
      if (answer.status !== 201) throw unexpected(answer.status)
      return (await answer.json()) as Done
    },
    async find(charge, reference) {
      const query = new URLSearchParams({ charge, reference })
      const answer = await fetch(`${url}?${query}`, { signal: AbortSignal.timeout(QUESTION_TIMEOUT_MS) })
      if (answer.status === 200) return { found: true, value: (await answer.json()) as Done }
      await answer.body?.cancel()
      return answer.status === 404 ? { found: false } : { found: 'unclear' }
    },
  }
}

function unexpected(status: number): IbidError {
  return new IbidError(`the downstream answered ${status}; whether it did anything is not known`, {
    code: 'UPSTREAM_ERROR',
    retriable: true,
    action: 'ask it by the same reference',
  })
}
