/** Who gets in, and what they see when there is nothing, when they may not, and when the server is gone. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { caller, type House, openHouse, type Served } from '../server/bench.js'
import { type Desk, openDesk } from './browser.js'

let close = async (): Promise<void> => {}
let house: House
let desk: Desk
let served: Served

beforeAll(async () => {
  house = openHouse((end) => (close = end))
  served = await house.serve()
  desk = await openDesk()
})
afterAll(async () => {
  await desk.close()
  await close()
})

const WRONG = `ibid_0123456789abcdef_${'A'.repeat(43)}`

test('a wrong key is refused with what to do, a good one is kept in this tab alone', async () => {
  const key = await house.newKey('door')
  const tab = await desk.open(served.url)
  const field = tab.getByLabel('API key')
  for (const wrong of [WRONG, 'nonsense', 'ключ', `${key}x`]) {
    await field.fill(wrong)
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.getByRole('alert').getByText('UNAUTHENTICATED').waitFor()
  }
  await field.fill(` ${key} `)
  await field.press('Enter')
  await tab.getByText('tenant door').waitFor()
  expect(await tab.evaluate(() => [sessionStorage.getItem('ibid.key'), localStorage.length])).toEqual([
    key,
    0,
  ])
  expect(await tab.context().cookies()).toEqual([])
  await tab.reload()
  await tab.getByText('tenant door').waitFor()
  const another = await tab.context().newPage()
  await another.goto(served.url)
  await another.getByLabel('API key').waitFor()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await field.waitFor()
  expect(await tab.evaluate(() => sessionStorage.length)).toBe(0)
})

test('a link may carry the key; it is out of the address at once, also in a tab that is here already', async () => {
  const key = await house.newKey('linked')
  const tab = await desk.open(`${served.url}/#key=${key}`)
  await tab.getByText('tenant linked').waitFor()
  expect(tab.url()).toBe(`${served.url}/#/`)
  const second = await house.newKey('second')
  await tab.goto(`${served.url}/#key=${second}`)
  await tab.getByText('tenant second').waitFor()
  expect(tab.url()).not.toContain('ibid_')
  expect(tab.complaints).toEqual([])
})

test('a key that is revoked while somebody looks leads back to the door', async () => {
  const key = await house.newKey('leaving')
  const tab = await desk.open(`${served.url}/#key=${key}`)
  await tab.getByText('tenant leaving').waitFor()
  await house.ibid('keys', 'revoke', key.split('_')[1] ?? '')
  await tab.getByRole('alert').getByText('UNAUTHENTICATED').waitFor()
  await tab.getByLabel('API key').waitFor()
})

test('where there is nothing, every view says so and what it means', async () => {
  const tab = await desk.open(`${served.url}/#key=${await house.newKey('empty')}`)
  await tab.getByText('Nothing was claimed since this server started.').waitFor()
  await tab.getByText('No duplicate has come yet.').waitFor()
  await tab.getByRole('link', { name: 'Held' }).click()
  await tab.getByText('Nothing is held.').waitFor()
  await tab.getByRole('link', { name: 'Receipts' }).click()
  await tab.getByText('There are no receipts yet.').waitFor()
  await tab.getByLabel('Scope').fill('tool:none')
  await tab.getByRole('button', { name: 'Search' }).click()
  await tab.getByText('No receipt matches.').waitFor()
  await tab.getByRole('link', { name: 'Trouble' }).click()
  await tab.getByText('Nothing is stuck.').waitFor()
  await tab.goto(`${served.url}/#/receipt?tenant=empty&scope=a&key=b`)
  await tab.getByText('There is no such receipt').waitFor()
  await tab.goto(`${served.url}/#/nowhere`)
  await tab.getByText('This page has no such view.').waitFor()
  expect(tab.complaints).toEqual([])
})

test('[R14] a key without the right sees the held ones, but no buttons and no check of the store', async () => {
  const agent = caller(served.url, await house.newKey('looker'))
  const { body } = await agent<{ token: string }>('/v1/claims', { scope: 'refund', key: 'k', payload: 1 })
  await agent('/v1/claims/hold', { scope: 'refund', key: 'k', token: body.token, why: 'lost' })
  const tab = await desk.open(`${served.url}/#key=${await house.newKey('looker', 'read')}`)
  await tab.getByRole('link', { name: /^Held/ }).click()
  const card = tab.getByRole('article', { name: 'refund k' })
  await card.getByText('A key with the right resolve can say what happened.').waitFor()
  expect(await card.getByRole('button').count()).toBe(0)
  await card.getByRole('link', { name: 'k', exact: true }).click()
  await tab.getByText('This key may look, but not resolve.').waitFor()
  await tab.getByRole('link', { name: 'Store' }).click()
  await tab.getByText('it takes a key of tenant').waitFor()
  expect(tab.complaints).toEqual([])
})

test('a server that is gone is said to be, the last figures stay, and the page comes back with it', async () => {
  const own = openHouse()
  const first = await own.serve()
  const key = await own.newKey('gone')
  const agent = caller(first.url, key)
  await agent('/v1/claims', { scope: 'refund', key: 'before', payload: 1 })
  const tab = await desk.open(`${first.url}/#key=${key}`)
  await tab.getByRole('link', { name: 'before' }).waitFor()
  await first.kill()
  await tab.getByText('Not live: the connection is lost').waitFor()
  await tab.getByRole('alert').getByText('The server does not answer.').waitFor()
  expect(await tab.getByRole('term').filter({ hasText: 'Hit rate' }).isVisible()).toBe(true)
  await own.serve('--port', new URL(first.url).port)
  await tab.getByText('Live', { exact: true }).waitFor()
  await agent('/v1/claims', { scope: 'refund', key: 'after', payload: 1 })
  await tab.getByRole('link', { name: 'after' }).waitFor()
  await tab.getByRole('alert').waitFor({ state: 'detached' })
})
