/** What the scenarios have in common: a line of the table, and what a replay and a problem have to look like. */
import type { IncomingMessage } from 'node:http'
import { expect } from 'vitest'
import { type Ask, call, type Got, problem, send } from '../client.js'
import type { Site } from '../site.js'

export type Scenario = readonly [name: string, run: (site: Site) => Promise<void>]

export const sameResponse = (first: Got, again: Got): void => {
  expect(again.status).toBe(first.status)
  expect(again.body.equals(first.body)).toBe(true)
  for (const name of ['content-type', 'content-encoding', 'location', 'x-kept']) {
    expect(again.headers[name], name).toBe(first.headers[name])
  }
  expect([first.replayed, again.replayed]).toEqual([false, true])
  for (const name of ['set-cookie', 'x-dropped']) expect(again.headers[name], name).toBeUndefined()
}

export const isProblem = (got: Got, status: number, code: string): void => {
  expect(
    { status: got.status, type: got.headers['content-type'], code: problem(got).code },
    got.text,
  ).toEqual({
    status,
    type: 'application/problem+json',
    code,
  })
  expect(problem(got).action).not.toBe('')
  expect(problem(got).status).toBe(status)
}

export async function twice(site: Site, ask: Ask): Promise<[Got, Got]> {
  return [await call(site.port, ask), await call(site.port, ask)]
}

/** The response of a request whose handler is still at work, as soon as its head is there. */
export function head(site: Site, ask: Ask): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    send(site.port, ask).on('response', resolve).on('error', reject)
  })
}
