/** What every command shares: tables of the right width, colour and progress only on a terminal, exit codes. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { print } from '../../src/cli/print.js'
import { jsonWith, keepSecret, scrub, shownUrl } from '../../src/cli/secrets.js'
import { table } from '../../src/cli/table.js'
import { cut, safe, widthOf } from '../../src/cli/text.js'
import { duration, since } from '../../src/cli/times.js'
import { asGiven } from '../../src/cli/values.js'
import { bin, filled, folder, ibid, run } from './command.js'

describe('text', () => {
  test('is as wide as a terminal shows it', () => {
    expect(['abc', 'é', 'e\u0301', '日本', '👩‍👩‍👧', '…'].map(widthOf)).toEqual([3, 1, 1, 4, 2, 1])
    expect(cut('日本語', 4)).toBe('日…')
    expect(cut('abcdef', 4)).toBe('abc…')
    expect(cut('abcd', 4)).toBe('abcd')
  })

  test('cannot steer a terminal', () => {
    expect(safe('a\u001b[2J\nb\u202e\u009b')).toBe(String.raw`a\u001b[2J\nb\u202e\u009b`)
  })

  test('times are the two largest units', () => {
    expect([0, 999, 61_000, 3_600_000, 100_000_000].map(duration)).toEqual([
      '0 ms',
      '999 ms',
      '1 min 1 s',
      '1 h',
      '1 d 3 h',
    ])
    expect([since(0, 5_000), since(5_000, 0)]).toEqual(['5 s ago', 'in 5 s'])
  })
})

describe('tables', () => {
  beforeEach(() => void vi.stubEnv('NO_COLOR', '1'))
  afterEach(() => void vi.unstubAllEnvs())
  const columns = [
    { title: 'KEY', cell: ({ key }: { key: string; n: number }) => key },
    { title: 'N', cell: ({ n }: { key: string; n: number }) => String(n), align: 'right' as const },
  ]

  test('line up, wide characters too', () => {
    const rows = [
      { key: '日本', n: 7 },
      { key: 'abcdef', n: 1_234 },
    ]
    expect(table(rows, columns, undefined)).toBe('KEY        N\n日本       7\nabcdef  1234\n')
  })

  test('fit the terminal, and are whole in a pipe', () => {
    const rows = [{ key: 'x'.repeat(200), n: 1 }]
    const lines = table(rows, columns, 40).trimEnd().split('\n')
    expect(lines.map(widthOf)).toEqual([40, 40])
    expect(table(rows, columns, undefined)).toContain('x'.repeat(200))
  })
})

describe('secrets', () => {
  test('of a store URL are in nothing that is printed', () => {
    keepSecret('postgres://me:p%40ss@host/db?sslmode=x')
    expect(scrub('cannot reach postgres://me:p%40ss@host/db?sslmode=x with p@ss, p%40ss')).not.toMatch(
      /p(@|%40)ss/,
    )
    expect(shownUrl('postgres://me:p%40ss@host:5432/db?password=p')).toBe('postgres://host:5432/db')
    expect(shownUrl('sqlite:./ibid.db')).toBe('sqlite:./ibid.db')
  })

  test.each([
    'postgres://me:half@other@host/db',
    'postgres://me:half?other@host/db',
    'postgres://me:half/other@host/db',
    'redis://:half@other@host/db',
    'http://half:other@host/db?token=half',
  ])('whatever a password is made of, no half of it is shown: %s', (url) => {
    expect(shownUrl(url)).toMatch(/^\w+:\/\/host\/db$/)
    keepSecret(url)
    expect(scrub(`${url} refused, and so did ${url.slice(url.indexOf('//'))}`)).not.toMatch(/half|other/)
  })

  test('a receipt that is like a password is told as it is, and JSON stays JSON', () => {
    keepSecret('postgres://me:order@host/db')
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const receipt = { key: 'order-1', order: 1, store: 'postgres://me:order@host/db' }
    print(true, { json: receipt, text: () => '' })
    print(false, { json: {}, text: () => 'order-1' })
    const said = written.mock.calls.map(([text]) => String(text))
    written.mockRestore()
    expect(JSON.parse(said[0] ?? '')).toEqual({ ...receipt, store: '***' })
    expect(said[1]).toBe('order-1')
    expect(JSON.parse(jsonWith(scrub, { order: 'no order for me' }))).toEqual({ order: 'no *** for me' })
  })
})

describe('the servers', () => {
  test.each([
    ['--url', ['--url', 'nowhere']],
    ['--url', ['--url', 'ftp://127.0.0.1/mcp']],
    ['--url', ['--url', 'http://127.0.0.1/mcp', '--', 'true']],
    ['--contracts', ['--contracts', './nowhere.json', '--', 'true']],
    ['--port', ['--url', 'http://127.0.0.1/mcp', '--port', '']],
  ])('ibid mcp names the flag that is wrong (%s), and makes no store', async (flag, flags) => {
    const home = folder()
    const ran = await ibid(['mcp', '--store', `sqlite:${join(home, 'ibid.db')}`, ...flags], { cwd: home })
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(flag) as string })
    expect(existsSync(join(home, 'ibid.db'))).toBe(false)
  })

  const TO = 'http://me:hush@127.0.0.1:9/at?token=hush'
  const serve = ['serve', '--port', '0', '--proxy-port', '0', '--store', 'memory:', '--upstream', TO]
  test.each([serve, ['mcp', '--port', '0', '--store', 'memory:', '--url', TO]])(
    'show where they forward to, without the password: ibid %s',
    async (...args) => {
      const child = spawn(process.execPath, [bin, ...args], { stdio: 'pipe' })
      onTestFinished(() => void child.kill('SIGKILL'))
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (said += text))
      await expect.poll(() => said, { timeout: 20_000 }).toMatch(/→ http:\/\/127\.0\.0\.1:9\/at\n/)
      expect(said).not.toContain('hush')
    },
  )
})

/** A terminal of 60 columns, as `script` makes one. */
async function onTerminal(args: readonly string[], env: Record<string, string> = {}) {
  const words = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
  return await run('script', ['-qec', `stty cols 60; ${words}`, '/dev/null'], {
    env: { TERM: 'xterm', ...env },
  })
}

describe('on a terminal', () => {
  test('colour, unless NO_COLOR is set; a table no wider than it; progress that is taken away', async () => {
    const { url, folder: home } = await filled(async ({ ibid: own }) => {
      await own.once({ scope: 'tool:a-scope-with-a-long-name', key: 'a-key-with-quite-a-long-name' }, () => 1)
    })
    const [coloured, plain, archived] = await Promise.all([
      onTerminal(['inspect', '--store', url]),
      onTerminal(['inspect', '--store', url], { NO_COLOR: '1' }),
      onTerminal(['archive', '--store', url, '--older-than', '0', '--to', join(home, 'cold')]),
    ])
    expect(coloured.stdout).toContain('\u001b[32m')
    expect(plain.stdout).not.toContain('\u001b[3')
    expect(plain.stdout).toContain('…')
    expect(archived.stdout).toContain('\r\u001b[Karchiving: 1 receipt')
    const afterwards = archived.stdout.slice(archived.stdout.lastIndexOf('\r\u001b[K'))
    expect(afterwards).toContain('1 receipt in 1 file, ')
  })
})

describe('help', () => {
  test('says durations and choices as they are given', async () => {
    expect([30 * 86_400_000, 3_600_000, 90_000, 500, 0].map(asGiven)).toEqual([
      '30d',
      '1h',
      '90s',
      '500ms',
      '0ms',
    ])
    const [sweep, serve] = await Promise.all([ibid(['sweep', '--help']), ibid(['serve', '--help'])])
    expect(sweep.stdout).toContain('kept (default: 30d)')
    expect(serve.stdout).toContain('--proxy-keys <required|optional|derived>')
    expect(serve.stdout.replaceAll(/\s+/g, ' ')).toContain('($IBID_SHUTDOWN, default 10s)')
  })
})

describe('exit codes', () => {
  test('are those of the page', async () => {
    const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
    const listed = [...page.matchAll(/^\| (\d) \|/gm)].map(([, code]) => Number(code))
    expect(listed).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('0 for help and version, 2 for what is not a command', async () => {
    const [help, version, none, wrong, json] = await Promise.all([
      ibid(['--help']),
      ibid(['--version']),
      ibid([]),
      ibid(['frobnicate']),
      ibid(['frobnicate', '--json']),
    ])
    expect([help, version, none, wrong, json].map(({ code }) => code)).toEqual([0, 0, 2, 2, 2])
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(wrong.stderr).toContain("unknown command 'frobnicate'")
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'USAGE' } })
  })

  test('5 for a file that is not there, which is not made; 2 for a URL that is none', async () => {
    const cwd = folder()
    const [absent, memory, bad] = await Promise.all([
      ibid(['held'], { cwd }),
      ibid(['held', '--store', 'memory:']),
      ibid(['held', '--store', 'mysql://me:secret@host/db']),
    ])
    expect([absent, memory, bad].map(({ code }) => code)).toEqual([5, 2, 2])
    expect(existsSync(join(cwd, 'ibid.db'))).toBe(false)
    expect(bad.stderr).toContain('mysql')
    expect(bad.stderr).not.toContain('secret')
  })

  test("a file that is not there, where the server's is: it is named", async () => {
    const [cwd, home] = [folder(), folder()]
    const own = join(home, '.ibid', 'ibid.db')
    const at = { cwd, env: { HOME: home, USERPROFILE: home } }
    const before = await ibid(['held'], at)
    expect(before.stderr).toContain('sqlite:/path/to/ibid.db')
    // IBID_STORE is there and empty, which is as good as not set.
    expect((await ibid(['keys', 'list'], at)).code).toBe(0)
    const [usual, given] = [await ibid(['held'], at), await ibid(['held', '--store', 'sqlite:./nix.db'], at)]
    expect([usual, given].map(({ code }) => code)).toEqual([5, 5])
    expect(usual.stderr).toContain(`give --store sqlite:${own}`)
    expect(given.stderr).not.toContain(own)
  })

  test('2 for a value whose file is not there, which is not told as JSON that is wrong', async () => {
    const { url } = await filled(() => Promise.resolve())
    const told = ['--as', 'succeeded', '--by', 'ana', '--why', 'seen', '--tenant', 'acme', '--store', url]
    const { code, stderr } = await ibid(['resolve', 'refund', 'k', ...told, '--value', '@nix.json'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/--value cannot be read: ENOENT.*\n +give @ and the path/)
  })

  test('a reader that has seen enough is no error', async () => {
    const { url } = await filled(async ({ ibid: own }) => {
      for (let i = 0; i < 300; i++) await own.once({ scope: 's'.repeat(200), key: `${i}` }, () => 1)
    })
    const { stdout, stderr } = await run(
      'bash',
      ['-c', `set -o pipefail; node ${bin} inspect --limit 1000 --store ${url} | head -1; echo $?`],
      {},
    )
    expect(stdout.trim().split('\n').at(-1)).toBe('0')
    expect(stderr).toBe('')
  })
})

describe('completion', () => {
  test('bash: commands, flags, choices', async () => {
    const { stdout, code } = await ibid(['completion', 'bash'])
    expect(code).toBe(0)
    const file = join(folder(), 'ibid.bash')
    writeFileSync(file, stdout)
    const complete = async (...words: string[]): Promise<readonly string[]> => {
      const typed = words.map((word) => `'${word}'`).join(' ')
      const asked = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _ibid`
      const script = `source ${file}; ${asked}; printf '%s\\n' "\${COMPREPLY[@]}"`
      return (await run('bash', ['-c', script], {})).stdout.trim().split('\n')
    }
    expect(await complete('ibid', 're')).toEqual(['resolve'])
    expect(await complete('ibid', 'resolve', '--w')).toEqual(['--why'])
    expect(await complete('ibid', 'resolve', '--as', '')).toEqual(['succeeded', 'failed', 'released'])
    expect(await complete('ibid', 'completion', 'f')).toEqual(['fish'])
  })

  test('zsh and fish name every command and flag', async () => {
    const [zsh, fish, other] = await Promise.all(
      ['zsh', 'fish', 'tcsh'].map((shell) => ibid(['completion', shell])),
    )
    for (const name of [
      'inspect',
      'held',
      'resolve',
      'sweep',
      'archive',
      'plan',
      'doctor',
      'scan',
      'bench',
      'mcp',
    ]) {
      expect(zsh?.stdout).toContain(`${name})`)
      expect(fish?.stdout).toContain(`-a ${name} `)
    }
    expect(zsh?.stdout).toContain('--older-than[')
    expect(fish?.stdout).toContain('-l older-than ')
    expect(other?.code).toBe(2)
  })
})

describe('bench', () => {
  test('measures the store that it is given, and nothing else', async () => {
    const { url, folder: home } = await filled(async () => undefined)
    const args = ['bench', '--store', url, '--duration', '100', '--callers', '8']
    const result = (await ibid([...args, '--json'])).json<{
      originals: { calls: number; perSecond: number }
      duplicates: { calls: number }
    }>()
    expect(result.originals.calls).toBeGreaterThanOrEqual(8)
    expect(result.originals.perSecond).toBeGreaterThan(0)
    expect(result.duplicates.calls).toBeGreaterThanOrEqual(8)
    const people = await ibid(args)
    expect(people.stdout).toMatch(/^claim \+ settle +[\d ]+\/s, p50 [\d.]+ ms, p99 [\d.]+ ms$/m)
    const absent = await ibid(['bench', '--store', `sqlite:${join(home, 'absent.db')}`])
    expect(absent.code).toBe(5)
  })
})
