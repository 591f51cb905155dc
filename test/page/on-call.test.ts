/**
 * The page as the person on call walks it: something is held; find it, read its story, say what happened,
 * and see the retry succeed. A real browser, the compiled server in a process of its own, and agents that
 * use the API.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HELD, HELD_PAYLOAD, HELD_WHY, playDay } from '../fixtures/day-at-acme.mjs'
import { type Caller, caller, openHouse, type Served } from '../server/bench.js'
import { type Desk, openDesk, type Tab } from './browser.js'

interface Claim {
  readonly outcome: string
  readonly token: string
  readonly value?: unknown
}

let close = async (): Promise<void> => {}
let desk: Desk
let served: Served
let key: string
let agent: Caller

beforeAll(async () => {
  const house = openHouse((end) => (close = end))
  served = await house.serve()
  key = await house.newKey('acme')
  agent = caller(served.url, key)
  await playDay(agent)
  desk = await openDesk()
})
afterAll(async () => {
  await desk.close()
  await close()
})

const retry = async () => await agent<Claim>('/v1/claims', { ...HELD, payload: HELD_PAYLOAD })
const signedIn = async (): Promise<Tab> => await desk.open(`${served.url}/#key=${key}`)

/** One that nobody knows of, made by an agent whose downstream did not answer. */
async function hold(scope: string, name: string): Promise<void> {
  const { body } = await agent<Claim>('/v1/claims', { scope, key: name, payload: {} })
  await agent('/v1/claims/hold', { scope, key: name, token: body.token, why: 'no answer' })
}

describe('the held refund', () => {
  test('[R14] [R50] found, read, resolved with who and why; then the retry runs and succeeds', async () => {
    expect((await retry()).status).toBe(409)
    const tab = await signedIn()

    // Find it: the page says so wherever one is.
    await tab.getByRole('link', { name: /^Held/ }).getByText('1').waitFor()
    expect(await tab.title()).toContain('(1 held)')
    await tab.getByRole('link', { name: /^Held/ }).click()
    const card = tab.getByRole('article', { name: `${HELD.scope} ${HELD.key}` })
    await card.getByText(HELD_WHY).waitFor()

    // Read its story: every layer that its key went through, and every decision in order.
    await card.getByRole('link', { name: 'Read its story' }).click()
    await tab.getByRole('heading', { name: HELD.key }).waitFor()
    const layers = tab.locator('.chain li')
    await layers.nth(2).waitFor()
    expect(await layers.locator('a').allTextContents()).toEqual([
      'http:POST /refunds',
      'run:support-agent',
      'tool:issue_refund',
    ])
    const story = tab.locator('.timeline li')
    expect(await story.locator('b').allTextContents()).toEqual(
      expect.arrayContaining(['claimed', 'claimed', 'claimed', 'held']),
    )
    await story.filter({ hasText: HELD_WHY }).waitFor()

    // Nothing is sent without who and why.
    await tab.getByRole('radio', { name: /It did not happen/ }).check()
    const resolve = tab.getByRole('button', { name: 'Resolve: it did not happen' })
    await resolve.click()
    expect(await tab.getByLabel('Who are you?').evaluate((field) => field.matches(':invalid'))).toBe(true)
    await tab.getByLabel('Who are you?').fill('  ')
    await tab.getByLabel('Why do you know?').fill('  ')
    await resolve.click()
    await tab.getByRole('alert').getByText('WHO_AND_WHY').waitFor()
    expect((await retry()).status).toBe(409)

    // Resolve it.
    await tab.getByLabel('Who are you?').fill('mara@acme')
    await tab.getByLabel('Why do you know?').fill('no refund of pay_1081 in the ledger')
    await resolve.click()
    await tab.locator('h1 .badge', { hasText: 'released' }).waitFor()
    const said = story.filter({ hasText: 'resolved' })
    await said.getByText('no refund of pay_1081 in the ledger').waitFor()
    await said.getByText('by mara@acme').waitFor()

    // The retry runs, and the page shows it without being asked.
    const second = await retry()
    expect(second).toMatchObject({ status: 201, body: { outcome: 'claimed' } })
    await tab.locator('h1 .badge', { hasText: 'running' }).waitFor()
    await agent('/v1/claims/settle', { ...HELD, token: second.body.token, value: { refund: 're_81' } })
    await tab.locator('h1 .badge', { hasText: 'succeeded' }).waitFor()
    await tab.getByLabel('What it returned').getByText('re_81').waitFor()
    expect((await retry()).body).toMatchObject({ outcome: 'succeeded', value: { refund: 're_81' } })
    await story.filter({ hasText: 'replayed' }).waitFor()
    await tab.getByRole('link', { name: 'Held', exact: true }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('[R14] one that did happen gets its result from a person, from the list of the held ones', async () => {
    await hold('tool:send_money', 'wf_90:step_1')
    const tab = await signedIn()
    await tab.getByRole('link', { name: /^Held/ }).click()
    const card = tab.getByRole('article', { name: 'tool:send_money wf_90:step_1' })
    await card.getByRole('button', { name: 'It happened' }).click()
    await card.getByLabel(/The result that retries get/).fill('{ not json')
    await card.getByLabel('Who are you?').fill('mara@acme')
    await card.getByLabel('Why do you know?').fill('the bank shows it')
    const resolve = card.getByRole('button', { name: 'Resolve: it happened' })
    await resolve.click()
    await card.getByRole('alert').getByText('NOT_JSON').waitFor()
    await card.getByLabel(/The result that retries get/).fill('{ "transfer": "tr_7" }')
    await resolve.click()
    await tab.getByRole('status').getByText('is resolved').waitFor()
    await card.waitFor({ state: 'detached' })
    const again = await agent('/v1/claims', { scope: 'tool:send_money', key: 'wf_90:step_1', payload: {} })
    expect(again.body).toMatchObject({ outcome: 'succeeded', value: { transfer: 'tr_7' } })
    expect(tab.complaints).toEqual([])
  })

  test('[R14] one that was refused stays refused, with the reason', async () => {
    await hold('tool:charge_card', 'wf_91:step_1')
    const tab = await signedIn()
    await tab.getByRole('link', { name: /^Held/ }).click()
    const card = tab.getByRole('article', { name: 'tool:charge_card wf_91:step_1' })
    await card.getByRole('button', { name: 'It was refused for good' }).click()
    await card.getByLabel('Why it was refused').fill('the card was stolen')
    await card.getByLabel(/^Code/).fill('STOLEN_CARD')
    await card.getByLabel('Who are you?').fill('mara@acme')
    await card.getByLabel('Why do you know?').fill('the bank says so')
    await card.getByRole('button', { name: /^Resolve/ }).click()
    await card.waitFor({ state: 'detached' })
    const again = await agent('/v1/claims', { scope: 'tool:charge_card', key: 'wf_91:step_1', payload: {} })
    expect(again.body).toMatchObject({ outcome: 'failed', error: { code: 'STOLEN_CARD' } })
  })

  test('two people at once: the second is told that it is resolved already', async () => {
    await hold('tool:send_money', 'wf_92:step_1')
    const tab = await signedIn()
    await tab.getByRole('link', { name: /^Held/ }).click()
    const card = tab.getByRole('article', { name: 'tool:send_money wf_92:step_1' })
    await card.getByRole('button', { name: 'It did not happen' }).click()
    await card.getByLabel('Who are you?').fill('mara@acme')
    await card.getByLabel('Why do you know?').fill('nothing there')
    // The other one is faster. The page hears of it, so it is kept from hearing until the button is pressed.
    await tab.route('**/v1/held*', (route) => route.abort())
    const other = { as: 'released', by: 'jo@acme', why: 'nothing there' }
    await agent('/v1/resolutions', { scope: 'tool:send_money', key: 'wf_92:step_1', ...other })
    const sent = tab.waitForRequest('**/v1/resolutions')
    await card.getByRole('button', { name: /^Resolve/ }).click()
    // Of the attempt that is shown, so that none after it is meant.
    expect((await sent).postDataJSON()).toMatchObject({ epoch: expect.any(Number) as number })
    await card.getByRole('alert').getByText('NOT_HELD').waitFor()
  })
})
