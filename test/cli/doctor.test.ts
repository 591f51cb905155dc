/** doctor: says what is wrong with store, configuration, contracts and clock, and what to do; never a password. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { OutcomeUnknown } from '../../src/index.js'
import { filled, HOUR_MS, ibid } from './command.js'

interface Report {
  readonly ok: boolean
  readonly findings: readonly {
    readonly area: string
    readonly code: string
    readonly level: string
    readonly message: string
    readonly remedy: string
  }[]
  readonly facts: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

describe('doctor', () => {
  test('a store that is well: facts, no findings, exit code 0', async () => {
    const { url, file } = await filled(
      async ({ ibid: own }) => void (await own.once({ scope: 's', key: 'k' }, () => 1)),
    )
    chmodSync(file, 0o600)
    const ran = await ibid(['doctor', '--json'], { env: { IBID_STORE: url } })
    expect(ran.code).toBe(0)
    const { ok, findings, facts } = ran.json<Report>()
    expect({ ok, findings }).toEqual({ ok: true, findings: [] })
    expect(facts['configuration']).toMatchObject({ 'store from': 'IBID_STORE', store: url })
    expect(facts['clock']).toMatchObject({ 'whose clock': "this machine's" })
    const people = await ibid(['doctor', '--store', url])
    expect(people.stdout).toMatch(/^store: ok$/m)
    expect(people.stdout).toMatch(/^clock: ok$/m)
  })

  test('what nobody comes by to do, and a file that everybody can read', async () => {
    const { url, file } = await filled(async ({ ibid: own, clock }) => {
      clock[0] = -HOUR_MS
      await own.once({ scope: 's', key: 'ended' }, () => 1, { window: '1s' })
      await expect(
        own.once({ scope: 's', key: 'k' }, () => Promise.reject(new OutcomeUnknown('?'))),
      ).rejects.toThrow('?')
      clock[0] = 0
    })
    chmodSync(file, 0o644)
    const { findings, ok } = (await ibid(['doctor', '--store', url, '--json'])).json<Report>()
    expect(ok).toBe(true)
    expect(findings.map(({ code }) => code)).toEqual(['FILE_OPEN_TO_OTHERS', 'HELD', 'NOT_SWEPT'])
    expect(findings.every(({ remedy }) => remedy.length > 0)).toBe(true)
  })

  test('[R32] contracts that promise more than they can keep are errors, exit code 3', async () => {
    const { url, folder } = await filled(async () => undefined)
    const tools = join(folder, 'tools.mjs')
    writeFileSync(
      tools,
      `const properties = { to: { type: 'string' } }
const input = { type: 'object', properties, required: ['to'], additionalProperties: false }
const base = { version: '1.0.0', input, execute: async () => 1 }
export const wire = { ...base, name: 'wire', effect: 'irreversible', scope: 'wire:write' }
export default [{ ...base, name: 'look', effect: 'read' }]
`,
    )
    const json = join(folder, 'mcp.json')
    writeFileSync(json, '[{ "name": "a", "effect": "read" }, { "name": "b", "effect": "sometimes" }]')
    const ran = await ibid(['doctor', '--store', url, '--contracts', tools, json, '--json'])
    expect(ran.code).toBe(3)
    const { findings, facts } = ran.json<Report>()
    expect(facts[`contracts in ${tools}`]).toMatchObject({ tools: expect.stringContaining('wire') })
    const errors = findings.filter(({ level }) => level === 'error')
    expect(errors.some(({ message }) => message.startsWith('wire: '))).toBe(true)
    expect(errors.some(({ code }) => code === 'CONTRACT_REFUSED')).toBe(true)
    const people = await ibid(['doctor', '--store', url, '--contracts', tools])
    expect(people.stdout).toContain('something needs doing')
    const none = await ibid(['doctor', '--store', url, '--contracts', join(folder, 'absent.mjs')])
    expect(none).toMatchObject({ code: 2 })
    expect(none.stderr).toContain('--contracts')
  })

  test('a store that does not answer: exit code 5, what could be checked is told, and no password', async () => {
    const url = 'postgres://me:hunter%402@127.0.0.1:1/db'
    const [people, machine] = await Promise.all([
      ibid(['doctor', '--store', url]),
      ibid(['doctor', '--json'], { env: { IBID_STORE: url } }),
    ])
    for (const { code, stdout, stderr } of [people, machine]) {
      expect(code).toBe(5)
      expect(stdout + stderr).not.toMatch(/hunter/)
      expect(stdout).toContain('postgres://127.0.0.1:1/db')
    }
    expect(people.stdout).toContain('PASSWORD_ON_COMMAND_LINE')
    expect(JSON.parse(machine.stderr)).toMatchObject({ error: { code: 'STORE_UNAVAILABLE' } })
  })
})
