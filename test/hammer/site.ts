/**
 * The example servers as the hammer meets them: processes at an address, with a command that kills and restarts
 * them.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, type TestContext } from 'vitest'
import { freePort } from '../../scripts/servers/redis.mjs'
import type { CheckReport, Verdict } from '../../src/testing/index.js'
import { ibid, type Ran } from '../cli/command.js'

export interface Site {
  readonly url: string
  readonly probe: string
  readonly restart: string
  readonly folder: string
}

const STARTER = fileURLToPath(new URL('../fixtures/hammer-server.mjs', import.meta.url))

export function example(name: string): string {
  return fileURLToPath(new URL(`../../examples/hammer/${name}.mjs`, import.meta.url))
}

/**
 * These tests wait more than they work, and run at the same time: what one leaves behind is its own to clear
 * away.
 */
export function homeOf({ onTestFinished }: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'ibid-hammer-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return home
}

export async function startSite(
  context: TestContext,
  name: string,
  ...more: readonly string[]
): Promise<Site> {
  const home = homeOf(context)
  const port = await freePort()
  writeFileSync(`${home}/server.json`, JSON.stringify([example(name), String(port), home, ...more]))
  context.onTestFinished(() => void process.kill(Number(readFileSync(`${home}/pid`, 'utf8')), 'SIGKILL'))
  execFileSync(process.execPath, [STARTER, home])
  const probe = `http://127.0.0.1:${port}/effects`
  await untilAnswered(probe)
  // The shell kills at once, while the call is still in its middle; a Node that has to start first may come too late.
  const restart = `kill -9 "$(cat "${home}/pid")" && "${process.execPath}" "${STARTER}" "${home}"`
  return { url: `http://127.0.0.1:${port}/refunds`, probe, restart, folder: home }
}

async function untilAnswered(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await fetch(url)
      return
    } catch (error) {
      if (tries > 600) throw error
      await sleep(50)
    }
  }
}

/** What all of the examples understand. */
export const REFUND = {
  plain: '{"amount":100}',
  failing: '{"amount":100,"how":"fail"}',
  slow: '{"amount":100,"how":"slow"}',
}
const HASTE = ['--settle', '25', '--json']

export async function hammerSite(site: Site, ...flags: readonly string[]): Promise<Ran> {
  const { plain, failing, slow } = REFUND
  const payloads = ['--body', plain, '--failing-body', failing, '--slow-body', slow]
  return await ibid([
    'hammer',
    'http',
    '--url',
    site.url,
    '--probe',
    site.probe,
    ...payloads,
    ...HASTE,
    ...flags,
  ])
}

export async function hammerFunction(
  name: string,
  env: Readonly<Record<string, string>>,
  ...flags: readonly string[]
): Promise<Ran> {
  const { plain, failing, slow } = REFUND
  const payloads = ['--payload', plain, '--failing-payload', failing, '--slow-payload', slow]
  const target = [`${example(name)}#refund`, '--probe', `${example(name)}#effects`]
  return await ibid(['hammer', 'function', ...target, ...payloads, ...HASTE, ...flags], { env })
}

export type Verdicts = Readonly<Record<string, string>>

/** `held`, `not tested: why`, or `violated: what was seen`, by property. */
export function verdictsOf(ran: Ran): Verdicts {
  expect(ran.stdout, ran.stderr).not.toBe('')
  const { verdicts } = ran.json<CheckReport>()
  return Object.fromEntries(verdicts.map((each) => [each.property, textOf(each)]))
}

function textOf(verdict: Verdict): string {
  if (verdict.verdict === 'held') return 'held'
  return verdict.verdict === 'violated' ? `violated: ${verdict.saw}` : `not tested: ${verdict.why}`
}
