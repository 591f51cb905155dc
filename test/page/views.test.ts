/**
 * Every view with a morning's work in it: what it shows, live; and that it can be used on a phone, in the
 * dark, by keys.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { HELD, playDay } from '../fixtures/day-at-acme.mjs'
import { type Caller, caller, type House, openHouse, type Served } from '../server/bench.js'
import { type Desk, openDesk, type Tab } from './browser.js'
import { faultsOf } from './faults.js'

const PATIENT = { timeout: 20_000, interval: 50 }
let close = async (): Promise<void> => {}
let desk: Desk
let served: Served
let house: House
let agent: Caller
let link: string
const VIEWS = [
  'now',
  'held',
  'receipts',
  'trouble',
  'store',
  `receipt?${new URLSearchParams(HELD).toString()}`,
]

beforeAll(async () => {
  house = openHouse((end) => (close = end))
  served = await house.serve()
  // The key of the first start: every tenant, every right.
  link = `${served.url}/#key=${served.key}`
  const call = caller(served.url, served.key)
  agent = async (path, body) =>
    await call(path, body === undefined ? undefined : { tenant: 'acme', ...(body as object) })
  await playDay(agent)
  desk = await openDesk()
})
afterAll(async () => {
  await desk.close()
  await close()
})

async function go(tab: Tab, view: string): Promise<void> {
  await tab.evaluate((hash) => (location.hash = hash), `#/${view}`)
  await tab.locator('main .card, main article').first().waitFor()
}

async function doOnce(scope: string, key: string): Promise<void> {
  const { body } = await agent<{ token: string }>('/v1/claims', { scope, key, payload: {} })
  await agent('/v1/claims/settle', { scope, key, token: body.token, value: 1 })
}

describe('what the views show', () => {
  test('[R51] decisions stream in, originals and duplicates apart, by layer, and can be stopped', async () => {
    const tab = await desk.open(link)
    await tab.getByText('Live', { exact: true }).waitFor()
    const feed = (name: string) => tab.getByRole('region', { name, exact: true })
    await doOnce('hook:github', 'delivery-1')
    await feed('Originals').getByRole('link', { name: 'delivery-1' }).first().waitFor()
    await agent('/v1/claims', { scope: 'hook:github', key: 'delivery-1', payload: {} })
    const duplicate = feed('Duplicates').locator('li').filter({ hasText: 'delivery-1' })
    await duplicate.getByText('replayed').waitFor()
    expect(await duplicate.locator('.layer').textContent()).toBe('hook')
    expect(await feed('Originals').getByText('replayed').count()).toBe(0)
    await feed('Worth a look').getByText('other payload × 2').waitFor()

    await tab.getByLabel('Layer', { exact: true }).selectOption('queue')
    await feed('Originals').getByRole('link', { name: 'msg_701' }).first().waitFor()
    expect(await feed('Originals').getByRole('link', { name: 'delivery-1' }).count()).toBe(0)
    await tab.getByLabel('Layer', { exact: true }).selectOption('')

    await tab.getByRole('button', { name: 'Pause' }).click()
    await doOnce('hook:github', 'delivery-2')
    // The figures go on while the list stands still: twelve of the morning, and these two.
    await tab.getByRole('row', { name: /^hook 14 / }).waitFor()
    expect(await feed('Originals').getByRole('link', { name: 'delivery-2' }).count()).toBe(0)
    await tab.getByRole('button', { name: 'Go on' }).click()
    await feed('Originals').getByRole('link', { name: 'delivery-2' }).first().waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('[R51] hit rate and duplicates prevented over time are drawn, and said in words', async () => {
    const tab = await desk.open(link)
    const chart = tab.getByRole('img', { name: /^Last hour: \d+ originals, \d+ duplicates prevented$/ })
    await chart.locator('canvas').waitFor()
    await tab.getByRole('img', { name: /^Last hour: hit rate \d+ %$/ }).waitFor()
    const isDrawn = await chart.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
        data: [],
      }
      // Green, and not grey: a bar of duplicates.
      return data.some((_, at) => at % 4 === 0 && (data[at + 1] ?? 0) > (data[at] ?? 0) + 60)
    })
    expect(isDrawn).toBe(true)
    await tab.getByText('Last day', { exact: true }).click()
    await tab.getByRole('img', { name: /^Last day: \d+ originals/ }).waitFor()
  })

  test('receipts are found by tenant, scope, a part of the key, state and time', async () => {
    const tab = await desk.open(link)
    await go(tab, 'receipts')
    const search = async (fields: Readonly<Record<string, string>>, found: readonly string[]) => {
      await tab.getByRole('link', { name: 'Clear' }).click()
      const form = tab.getByRole('search')
      for (const [label, text] of Object.entries(fields)) {
        const field = form.getByLabel(label, { exact: true })
        if (label === 'State') await field.selectOption(text)
        else await field.fill(text)
      }
      await form.getByRole('button', { name: 'Search' }).click()
      await vi.waitFor(
        async () => expect(await tab.locator('.rows b').allTextContents()).toEqual(found),
        PATIENT,
      )
    }
    await search({ Scope: 'tool:charge_card' }, ['wf_70:step_2'])
    await search({ 'Key, or a part of it': 'wf_81' }, [HELD.key, HELD.key, HELD.key])
    await search({ State: 'unknown' }, [HELD.key])
    await search({ Tenant: 'nobody' }, [])
    await search({ Tenant: 'acme', State: 'failed' }, ['wf_70:step_2'])
    await search({ State: 'failed', 'In its state before': '2020-01-01T00:00' }, [])
    await search({ State: 'failed', 'In its state since': '2020-01-01T00:00' }, ['wf_70:step_2'])
    // What was searched for can be sent to somebody, and goes back with the browser.
    expect(tab.url()).toContain('state=failed')
    await tab.getByRole('link', { name: 'wf_70:step_2' }).click()
    await tab.getByText('the bank said no').waitFor()
    await tab.goBack()
    await tab.getByText('1 shown, and these are all').waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('[R4] [R50] a story tells what a conflict came as, and who met the held one', async () => {
    const tab = await desk.open(link)
    const reused = { tenant: 'acme', scope: 'tool:issue_refund', key: 'wf_62:step_1' }
    await go(tab, `receipt?${new URLSearchParams(reused).toString()}`)
    const conflict = tab.locator('.timeline li.conflict')
    await conflict.getByText('differs in amount').waitFor()
    const [first, cameAs] = await conflict.locator('code').all()
    const prints = [await first?.getAttribute('title'), await cameAs?.getAttribute('title')]
    expect(prints[0]).toMatch(/^1:[\w-]{43}$/)
    expect(prints[1]).toMatch(/^1:[\w-]{43}$/)
    expect(prints[0]).not.toBe(prints[1])
    await go(tab, `receipt?${new URLSearchParams(HELD).toString()}`)
    const turnedAway = tab.locator('.timeline li', { hasText: 'turned away' })
    await turnedAway.getByText('A duplicate came while it is held. Nothing ran.').waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('[R4] [R14] conflicts and sweeps are there from before the server was started', async () => {
    const again = await house.serve()
    const tab = await desk.open(`${again.url}/#key=${served.key}`)
    await go(tab, 'trouble')
    const conflicts = tab.locator('section', { hasText: 'Conflicts' })
    await conflicts.getByRole('link', { name: /wf_62:step_1/ }).waitFor()
    await again.stop()
  })

  test('[R14] [R4] the stuck one, the conflict, and a sweep that decides', async () => {
    const tab = await desk.open(link)
    await go(tab, 'trouble')
    const conflict = tab.locator('section', { hasText: 'Conflicts' }).locator('li')
    await conflict.first().waitFor()
    expect(await conflict.textContent()).toMatch(
      /other payload × 2wf_62:step_1.*differs in amountfirst 1:.*…, came as 1:.*…key [0-9a-f]{16}, .* ago/,
    )
    const stuck = tab.locator('section', { hasText: 'Stuck' }).locator('li')
    await stuck.filter({ hasText: 'inv_5512' }).getByText('retry, lapsed').waitFor()
    await agent('/v1/claims', { scope: 'tool:wire', key: 'stuck-hold', payload: {}, lease: '1ms' })
    await tab.getByRole('button', { name: 'Sweep now' }).click()
    await tab.getByText(/^Swept: \d+ held/).waitFor()
    await tab
      .locator('section', { hasText: 'Swept, taken over' })
      .getByRole('link', { name: /stuck-hold/ })
      .waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('[R55] [R53] the check of the store, how fast it answers, and capacity against plan', async () => {
    const tab = await desk.open(link)
    await go(tab, 'store')
    await tab.getByText('sqlite: every promise holds as it is set up.').waitFor()
    await tab.getByText('journalMode').waitFor()
    const claim = tab.getByRole('row', { name: /^claim/ })
    expect(Number(await claim.getByRole('cell').first().textContent())).toBeGreaterThan(0)
    await tab.getByText('no plan yet').nth(1).waitFor()
    await tab.getByLabel('Originals per second').fill('80')
    await tab.getByLabel('Window, in seconds').fill('135')
    await tab.getByLabel('Margin').fill('0.2')
    // The store has counted them by itself; for one tenant they are counted by reading.
    const live = tab.getByText(/^\d+, 12,960 planned \(/)
    await live.waitFor()
    const all = Number.parseInt((await live.textContent()) ?? '', 10)
    await tab.getByLabel('Margin').fill('7')
    await tab.getByText('12,960 planned').waitFor()
    await tab.getByLabel('Tenant').fill('acme')
    await tab.getByLabel('Tenant').press('Enter')
    await tab.getByText('not counted, 12,960 planned').waitFor()
    await tab.getByRole('button', { name: 'Count receipts' }).click()
    await live.waitFor()
    expect(Number.parseInt((await live.textContent()) ?? '', 10)).toBeLessThan(all)
    await tab.getByLabel('Tenant').fill('')
    await tab.getByLabel('Tenant').press('Enter')
    await tab.getByText(`${all}, 12,960 planned`).waitFor()
    await tab.reload()
    await tab.getByText('12,960 planned').waitFor()
  })
})

describe('who can use it', () => {
  test.each([
    ['a desk', { viewport: { width: 1280, height: 900 } }],
    ['a phone', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }],
    ['a phone, in the dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
    ['a wall, in the dark', { viewport: { width: 3840, height: 2160 }, colorScheme: 'dark' }],
  ] as const)(
    'every view on %s: names, contrast, targets, and nothing sticks out',
    async (_name, options) => {
      const tab = await desk.open(served.url, options)
      const faults: string[] = (await faultsOf(tab)).map((fault) => `door: ${fault}`)
      await tab.goto(link)
      await tab.getByText('Live', { exact: true }).waitFor()
      for (const view of VIEWS) {
        await go(tab, view)
        faults.push(...(await faultsOf(tab)).map((fault) => `${view}: ${fault}`))
      }
      expect(faults).toEqual([])
      const back = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor)
      expect(back).toBe('colorScheme' in options ? 'rgb(18, 21, 26)' : 'rgb(246, 247, 249)')
      expect(tab.complaints).toEqual([])
    },
  )

  test('with the keyboard alone: focus is seen, in the order of the page, and never trapped', async () => {
    const tab = await desk.open(link)
    await tab.getByText('Live', { exact: true }).waitFor()
    await go(tab, 'held')
    // From the top, as whoever has just come.
    await tab.reload()
    await tab.getByRole('button', { name: 'It happened' }).first().waitFor()
    const stops: string[] = []
    for (;;) {
      await tab.keyboard.press('Tab')
      const stop = await tab.evaluate(() => {
        const { activeElement: here } = document
        if (!here || here === document.body) return undefined
        const { outlineStyle, outlineWidth } = getComputedStyle(here)
        const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2
        return `${isSeen ? '' : 'UNSEEN '}${here.getAttribute('placeholder') ?? here.textContent?.trim()}`
      })
      if (stop === undefined || stop === stops[0] || stops.length > 60) break
      stops.push(stop)
    }
    expect(stops.slice(0, 2)).toEqual(['Skip to the content', 'ibid.'])
    const order = ['Now', 'Receipts', 'Trouble', 'Store', 'every tenant', 'Sign out', HELD.key, 'It happened']
    const places = order.map((name) => stops.indexOf(name))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(stops.filter((stop) => stop.startsWith('UNSEEN'))).toEqual([])

    await tab.getByRole('link', { name: 'Trouble' }).focus()
    await tab.keyboard.press('Enter')
    await tab.getByRole('heading', { name: 'Trouble' }).waitFor()
    expect(await tab.evaluate(() => document.activeElement?.tagName)).toBe('MAIN')
  })

  test('nothing on it is inline or comes from elsewhere, and the browser is told to keep to that', async () => {
    const response = await fetch(served.url)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    const html = await response.text()
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=|https?:/)
    const tab = await desk.open(link)
    await tab.getByText('Live', { exact: true }).waitFor()
    await tab.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.planted = true'
      document.body.append(script)
    })
    expect(await tab.evaluate(() => 'planted' in window)).toBe(false)
    expect(tab.complaints.join()).toContain('Content Security Policy')
  })
})

test('a storm of others does not push what is worth a look off the page', async () => {
  const tab = await desk.open(link)
  await tab.getByText('Live', { exact: true }).waitFor()
  const look = tab.getByRole('region', { name: 'Worth a look', exact: true })
  await look.getByRole('link', { name: 'wf_62:step_1' }).waitFor()
  for (const round of [1, 2]) {
    const one = { tenant: 'storm', scope: 'bulk', lease: '1h' }
    const claims = Array.from({ length: 900 }, (_, at) => ({ ...one, key: `${round}-${at}` }))
    await caller(served.url, served.key)('/v1/claims', { claims })
  }
  await tab.getByRole('link', { name: '2-899' }).waitFor()
  expect(await look.getByRole('link', { name: 'wf_62:step_1' }).count()).toBe(1)
})
