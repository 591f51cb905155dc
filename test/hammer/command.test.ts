/**
 * `ibid hammer` as a command: what it refuses, what it says before, and what it leaves for people, machines and
 * CI.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { folder, ibid } from '../cli/command.js'
import { plant } from './planted.js'
import { example, REFUND } from './site.js'

async function hammered(fault: Parameters<typeof plant>[0], ...flags: readonly string[]) {
  const { url, effects } = await plant(fault)
  // The probe of a server in this process: a file that follows the count.
  const file = join(folder(), 'effects')
  const timer = setInterval(() => writeFileSync(file, String(effects())), 5)
  writeFileSync(file, '0')
  try {
    const target = [
      '--url',
      url,
      '--body',
      REFUND.plain,
      '--header',
      'x-tenant=acme',
      '--probe',
      `cat ${file}`,
    ]
    return await ibid(['hammer', 'http', ...target, '--settle', '60', ...flags])
  } finally {
    clearInterval(timer)
  }
}

test('for people: a line a property, what was seen and the calls that show it; exit code 3', async () => {
  const { code, stdout, stderr } = await hammered('has no guard', '--only', 'same-key-twice,replay-fidelity')
  expect(code).toBe(3)
  expect(stderr).toMatch(/^target\s+POST http:\/\/127\.0\.0\.1/)
  expect(stderr).toMatch(/other body\s+\{"amount":101\}/)
  expect(stdout).toMatch(/violated {4}same-key-twice: the same call twice/)
  expect(stdout).toMatch(/2 effects for 1 key\n\s+1\. key "hammer-\w+-2" → 201/)
  expect(stdout).toMatch(/0 held, 2 violated, 0 not tested\n$/)
})

test('nothing violated: exit code 0; what was not tested says why', async () => {
  const { code, stdout } = await hammered(undefined, '--only', 'same-key-twice', '--only', 'restart-between')
  expect(code).toBe(0)
  expect(stdout).toMatch(/held {8}same-key-twice/)
  expect(stdout).toMatch(/not tested {2}restart-between: .*\n\s+no way to restart it: give --restart\n/)
})

test('--json is one document, with the plan, and --junit is read by CI', async () => {
  const file = join(folder(), 'hammer.xml')
  const only = ['--only', 'same-key-twice,other-caller,replay-fidelity']
  const ran = await hammered('has no guard', '--json', '--junit', file, ...only)
  expect(ran.stderr).toBe('')
  expect(ran.json()).toMatchObject({
    ok: false,
    violated: 2,
    notTested: 1,
    plan: { payloads: { body: REFUND.plain, 'other body': '{"amount":101}' } },
  })
  const xml = readFileSync(file, 'utf8')
  expect(xml).toContain('<testsuites name="ibid hammer" tests="3" failures="2" errors="0" skipped="1"')
  expect(xml).toMatch(
    /<failure message="2 effects for 1 key" type="violated">key &quot;hammer-\w+-2&quot; → 201/,
  )
  expect(xml).toContain('<skipped message="no other caller: give --other-header"/>')
})

test('[R62] an address that is not this machine is refused, and nothing is sent', async () => {
  for (const url of [
    'https://api.example.com/refunds',
    'http://127.0.0.1.example.com/',
    'http://10.0.0.1/',
  ]) {
    const { code, stderr } = await ibid(['hammer', 'http', '--url', url])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('--yes-this-is-a-test-system') as string,
    })
  }
  const told = ['--url', 'https://api.example.com/refunds', '--yes-this-is-a-test-system', '--dry-run']
  const { code, stdout } = await ibid(['hammer', 'http', ...told])
  expect(code).toBe(0)
  expect(stdout).toContain('POST https://api.example.com/refunds')
})

test('--dry-run says what would be sent, without the values of headers, and sends nothing', async () => {
  const { url, effects } = await plant(undefined)
  const secret = ['--header', 'authorization=Bearer sesame']
  const { code, stdout } = await ibid([
    'hammer',
    'http',
    '--url',
    `${url}?token=hush`,
    ...secret,
    '--dry-run',
  ])
  expect({ code, effects: effects() }).toEqual({ code: 0, effects: 0 })
  expect(stdout).toMatch(/about \d+ calls, 20 of them at once, under new keys that begin with hammer-/)
  expect(stdout).not.toMatch(/sesame|hush/)
})

/** Only asked for its tools. */
const BANK = fileURLToPath(new URL('../fixtures/mcp-server.mjs', import.meta.url))
const LOCAL = ['http', '--url', 'http://127.0.0.1:1/']
test.concurrent.each([
  ['--url', ['http', '--url', 'refunds']],
  ['--url', ['http']],
  ['--header', [...LOCAL, '--header', 'x tenant']],
  ['--body', [...LOCAL, '--body', '@nowhere.json']],
  ['--probe', [...LOCAL, '--probe', './nowhere.mjs#count']],
  ['--at-once', [...LOCAL, '--at-once', '1']],
  ['--patience', [...LOCAL, '--patience', 'long']],
  ['no property "speed"', [...LOCAL, '--only', 'speed']],
  ['no property to test', [...LOCAL, '--only', 'long-key', '--skip', 'long-key']],
  ['--junit', [...LOCAL, '--junit', '/nowhere/at/all.xml']],
  ['--arguments', ['mcp', '--tool', 't', '--arguments', '[]', '--', 'true']],
  ['--tool', ['mcp', '--', 'true']],
  ['no tool "none"', ['mcp', '--tool', 'none', '--', process.execPath, BANK, '1', 'stdio', tmpdir()]],
  ['--payload', ['function', example('ibid-function'), '--payload', '{']],
  ['nowhere.mjs', ['function', 'nowhere.mjs#refund']],
  ['exports no function "pay"', ['function', `${example('refunds')}#pay`]],
])('what is wrong is named: %s', async (named, args) => {
  const { code, stderr } = await ibid(['hammer', ...args])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(named) as string })
})

test('a target that does not answer is told apart from one that has faults', async () => {
  const { code, stderr } = await ibid(['hammer', ...LOCAL, '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'CONTROL_FAILED' } })
})
