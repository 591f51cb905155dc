/**
 * The hammer against ibid itself: over HTTP, as an MCP server, as a function, all on SQLite, all killed in the
 * middle.
 */
import { expect, test, vi } from 'vitest'
import { PROPERTIES } from '../../src/testing/black-box/properties.js'
import type { CheckReport } from '../../src/testing/index.js'
import { ibid } from '../cli/command.js'
import { example, hammerFunction, hammerSite, homeOf, REFUND, startSite, verdictsOf } from './site.js'

/** They run at the same time, and on a busy machine each takes its time. */
vi.setConfig({ testTimeout: 180_000 })

const ALL = PROPERTIES.map(({ id }) => id)
const held = (ids: readonly string[]): object => Object.fromEntries(ids.map((id) => [id, 'held']))

test.concurrent('[R5][R40][R62] an endpoint with ibid/hono holds every property', async (context) => {
  const site = await startSite(context, 'ibid-hono')
  const callers = ['--header', 'x-tenant=acme', '--other-header', 'x-tenant=umbrella']
  const ran = await hammerSite(site, ...callers, '--restart', site.restart)
  expect(verdictsOf(ran)).toEqual(held(ALL))
  expect(ran.code).toBe(0)
  const { verdicts } = ran.json<CheckReport>()
  const notes = Object.fromEntries(verdicts.map((each) => [each.property, 'note' in each ? each.note : '']))
  expect(notes['replay-fidelity']).toContain('idempotency-replayed: true')
  expect(notes['restart-in-the-middle']).toBe('the retry got 409')
  expect(notes['other-caller']).toBe('it is a key of its own')
})

/** They have no headers: nobody can claim a replay, and the tenant is in the program. */
const WITHOUT_HEADERS = ALL.filter((id) => id !== 'claimed-replay' && id !== 'other-caller')

test.concurrent('[R62] a guarded MCP server holds every property', async (context) => {
  const home = homeOf(context)
  const { plain, failing, slow } = REFUND
  const payloads = ['--arguments', plain, '--failing-arguments', failing, '--slow-arguments', slow]
  const probe = ['--probe', `wc -l < "${home}/refunds.log" 2>/dev/null || echo 0`, '--settle', '25']
  const server = ['--', process.execPath, example('ibid-mcp'), home]
  const tool = ['hammer', 'mcp', '--tool', 'issue_refund', '--json']
  const ran = await ibid([...tool, ...payloads, ...probe, ...server])
  expect(verdictsOf(ran)).toMatchObject(held(WITHOUT_HEADERS))
  expect(ran.code).toBe(0)
})

test.concurrent('[R62] a function around ibid.once holds every property', async (context) => {
  const ran = await hammerFunction('ibid-function', { REFUNDS: homeOf(context) })
  expect(verdictsOf(ran)).toMatchObject(held(WITHOUT_HEADERS))
  expect(ran.code).toBe(0)
})
