/** Chromium, as somebody's browser: tabs that remember everything the page should not have done. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { ensureChromium } from '../../scripts/servers/chromium.mjs'

export interface Tab extends Page {
  /** Errors on the console, breaches of the content policy, exceptions, requests to elsewhere. */
  readonly complaints: readonly string[]
}

export interface Desk {
  /** A tab of its own: nothing is shared with the others. */
  open(url: string, options?: BrowserContextOptions): Promise<Tab>
  close(): Promise<void>
}

export async function openDesk(): Promise<Desk> {
  const executablePath = await ensureChromium()
  // As root, which containers mostly are, Chromium's own sandbox does not start; the pages are ours.
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  return {
    async open(url, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
      context.setDefaultTimeout(20_000)
      const page = await context.newPage()
      const complaints: string[] = []
      const { origin } = new URL(url)
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== origin) complaints.push(`asked ${request.url()}`)
      })
      await page.goto(url)
      return Object.assign(page, { complaints })
    },
    close: async () => await browser.close(),
  }
}
