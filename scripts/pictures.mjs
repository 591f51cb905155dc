/**
 * Takes the pictures of the page that stand in docs/images: `node scripts/pictures.mjs 10`, after a build. A
 * server of its own, with a made-up morning and ten minutes of traffic in it, looked at with Chromium as the
 * person on call would.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { HELD, playDay } from '../test/fixtures/day-at-acme.mjs'
import { ensureChromium } from './servers/chromium.mjs'
import { removeFolder, temporaryFolder } from './servers/process.mjs'

const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const images = fileURLToPath(new URL('../docs/images/', import.meta.url))
const STORY = `#/receipt?${new URLSearchParams(HELD)}`

/** Where to look, on what, and what to do before the picture. */
const PICTURES = [
  { name: 'now', at: '#/', width: 1280, height: 860 },
  { name: 'held', at: '#/held', width: 1280, height: 860, press: 'It did not happen' },
  { name: 'story', at: STORY, width: 1280, height: 900 },
  { name: 'receipts', at: '#/receipts?state=succeeded', width: 1280, height: 560 },
  { name: 'trouble', at: '#/trouble', width: 1280, height: 700 },
  { name: 'store', at: '#/store', width: 1280, height: 1240 },
  { name: 'phone-held', at: '#/held', width: 390, height: 700 },
  { name: 'wall', at: '#/', width: 1920, height: 1080, dark: true },
]

const minutes = Number(process.argv[2] ?? 0)

/** A second or so of it: new keys, and old ones again. */
async function traffic(call) {
  const scope = ['hook:stripe', 'tool:issue_refund', 'queue:mail', 'http:POST /refunds'][
    Math.floor(Math.random() * 4)
  ]
  const key = `job_${Math.floor(Math.random() * 1_000_000)}`
  const claim = await call('/v1/claims', { scope, key, payload: { key } })
  if (claim.body.token)
    await call('/v1/claims/settle', { scope, key, token: claim.body.token, value: { ok: true } })
  for (let again = Math.floor(Math.random() * 3); again > 0; again--)
    await call('/v1/claims', { scope, key, payload: { key } })
  await sleep(Math.random() * 1_500)
}

const folder = await temporaryFolder('pictures')
await mkdir(images, { recursive: true })
const store = `sqlite:${join(folder, 'ibid.db')}`
const server = spawn(process.execPath, [cli, 'serve', '--json', '--store', store, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const browser = await chromium.launch({ executablePath: await ensureChromium(), args: ['--no-sandbox'] })
try {
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data')
  const { url, key } = JSON.parse(line)
  const call = async (path, body) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ tenant: 'acme', ...body }),
    })
    return { status: response.status, body: await response.json() }
  }
  await playDay(call)
  for (const end = Date.now() + minutes * 60_000; Date.now() < end;) await traffic(call)
  // Duplicates are recorded every second.
  await sleep(1_500)
  for (const { name, at, width, height, dark = false, press } of PICTURES) {
    const page = await browser.newPage({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
    })
    await page.goto(`${url}/#key=${key}`)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.evaluate((hash) => (location.hash = hash), at)
    await page.waitForTimeout(800)
    if (press) await page.getByRole('button', { name: press }).click()
    await page.screenshot({ path: join(images, `${name}.png`) })
    await page.close()
  }
} finally {
  await browser.close()
  server.kill('SIGKILL')
  await removeFolder(folder)
}
