/**
 * The layers hold because the linter forbids the imports that would break them. Here each of its rules is shown
 * to fire, in a copy of the house that holds nothing but planted imports; and so are the rules on promises and `any`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesUnder, read, root } from './files.js'

/** Where a file stands, what it may import, what it may not. */
const LAYERS: readonly { room: string; may: readonly string[]; mayNot: readonly string[] }[] = [
  {
    room: 'src/core/a.ts',
    may: ['./b.js'],
    mayNot: [
      '../store.js',
      '../key/b.js',
      '../engine/b.js',
      '../index.js',
      'node:fs',
      '@opentelemetry/api',
      'ibid',
    ],
  },
  {
    room: 'src/key/a.ts',
    may: ['./b.js', '../core/b.js', 'node:crypto'],
    mayNot: ['../store.js', '../engine/b.js', '../stores/memory/index.js', './../store.js', 'ibid/store'],
  },
  {
    room: 'src/store.ts',
    may: ['./core/b.js'],
    mayNot: ['./key/index.js', './engine/b.js', './index.js', 'ibid'],
  },
  {
    room: 'src/stores/mine/a.ts',
    may: ['./b.js', '../../core/b.js', '../../store.js', 'node:fs'],
    mayNot: ['../memory/index.js', '../../engine/b.js', '../../key/index.js', '../../index.js', 'ibid'],
  },
  {
    room: 'src/stores/mine/deep/a.ts',
    may: ['../b.js', '../../../core/b.js', '../../../store.js'],
    mayNot: ['../../memory/index.js', '../../../engine/b.js', '../../../index.js'],
  },
  {
    room: 'src/engine/a.ts',
    may: ['./b.js', '../core/b.js', '../store.js', '@opentelemetry/api'],
    mayNot: [
      '../key/index.js',
      '../stores/memory/index.js',
      '../guards/http/index.js',
      '../index.js',
      'ibid',
    ],
  },
  {
    room: 'src/engine/deep/a.ts',
    may: ['../b.js', '../../store.js'],
    mayNot: ['../../key/index.js', 'ibid'],
  },
  {
    room: 'src/guards/http/a.ts',
    may: ['./b.js', '../../core/b.js', '../../key/index.js', '../../ibid.js'],
    mayNot: ['../queue/index.js', '../../store.js', '../../stores/memory/index.js', '../../index.js', 'ibid'],
  },
  {
    room: 'src/adapters/a.ts',
    may: ['./b.js', '../guards/http/index.js', '../core/b.js', '../key/index.js', '../ibid.js', 'hono'],
    mayNot: ['../engine/b.js', '../store.js', '../stores/memory/index.js', '../index.js', 'ibid'],
  },
  {
    room: 'src/adapters/mcp/a.ts',
    may: ['./b.js', '../../guards/broker/index.js', '../../core/b.js', '../../ibid.js'],
    mayNot: ['../../engine/b.js', '../../store.js', '../../stores/memory/index.js', 'ibid'],
  },
  {
    room: 'src/plan/a.ts',
    may: ['./b.js', '../core/b.js'],
    mayNot: ['../store.js', '../engine/b.js', '../cli/b.js', '../index.js', 'ibid'],
  },
  {
    room: 'src/cli/a.ts',
    may: ['./b.js', '../index.js', '../core/b.js', '../stores/open.js', '../plan/index.js', 'commander'],
    mayNot: ['../engine/b.js', '../stores/sqlite/index.js', 'ibid', 'ibid/key'],
  },
  {
    room: 'src/cli/deep/a.ts',
    may: ['../b.js', '../../index.js', '../../core/b.js', '../../store.js', '../../stores/open.js'],
    mayNot: ['../../engine/b.js', '../../stores/sqlite/index.js', 'ibid'],
  },
  {
    room: 'src/server/a.ts',
    may: [
      './b.js',
      '../ibid.js',
      '../core/b.js',
      '../store.js',
      '../guards/http/guard.js',
      '../adapters/mcp.js',
    ],
    mayNot: ['../engine/b.js', '../stores/sqlite/index.js', '../cli/serve.js', 'ibid'],
  },
  {
    room: 'src/server/routes/a.ts',
    may: ['../b.js', '../../ibid.js', '../../core/b.js'],
    mayNot: ['../../engine/b.js', '../../stores/sqlite/index.js', 'ibid'],
  },
  {
    room: 'src/ibid.ts',
    may: ['./core/b.js', './key/index.js', './store.js', './engine/b.js', './guards/http/index.js'],
    mayNot: ['./stores/memory/index.js', 'ibid/sqlite'],
  },
  {
    room: 'src/surface.ts',
    may: ['./core/b.js', './key/index.js', './store.js', './engine/b.js'],
    mayNot: ['./stores/memory/index.js', 'ibid/sqlite'],
  },
  {
    room: 'src/index.ts',
    may: ['./core/b.js', './ibid.js', './engine/b.js'],
    mayNot: ['./stores/sqlite/index.js', 'ibid'],
  },
  {
    room: 'src/testing/a.ts',
    may: ['./b.js', '../index.js', '../core/b.js', '../store.js', '../stores/memory/index.js'],
    mayNot: ['../stores/sqlite/index.js', '../engine/b.js', '../key/index.js', 'ibid'],
  },
  {
    room: 'src/testing/deep/a.ts',
    may: ['../b.js', '../../index.js', '../../core/b.js', '../../store.js', '../../stores/memory/index.js'],
    mayNot: ['../../stores/sqlite/index.js', '../../engine/b.js', 'ibid'],
  },
]

const FORMS: Readonly<Record<string, (from: string) => string>> = {
  import: (from) => `import { b } from '${from}'\nexport const a: unknown = b\n`,
  'import type': (from) => `import type { B } from '${from}'\nexport type A = B\n`,
  'export from': (from) => `export * from '${from}'\n`,
  'import()': (from) => `export const a = (): Promise<unknown> => import('${from}')\n`,
}

const PLANTED_CODE: Readonly<Record<string, string>> = {
  'no-floating-promises': 'export function f(p: Promise<void>): void {\n  p\n}\n',
  'no-misused-promises': 'export function f(p: Promise<boolean>): number {\n  return p ? 1 : 2\n}\n',
  'await-thenable': 'export async function f(): Promise<number> {\n  return await 1\n}\n',
  'no-explicit-any': 'export function f(x: any): void {\n  void x\n}\n',
}

/** What the linter says about each planted file: the names of the rules that fired. */
const fired = new Map<string, string[]>()
const folder = mkdtempSync(join(tmpdir(), 'ibid-layers-'))

/** One file per case, beside the file that it stands for: rules go by folder, and by name at the top of src. */
function plantAll(): void {
  for (const { room, may, mayNot } of LAYERS) {
    for (const specifier of [...may, ...mayNot]) {
      for (const [form, write] of Object.entries(FORMS))
        plant(caseFile(room, specifier, form), write(specifier))
    }
  }
  for (const [rule, code] of Object.entries(PLANTED_CODE)) plant(`code/src/engine/${rule}.ts`, code)
}

/** Every case has a root of its own, so that src/index.ts can be planted more than once. */
function caseFile(room: string, specifier: string, form: string): string {
  return `${Buffer.from(`${room} ${form} ${specifier}`).toString('hex')}/${room}`
}

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

beforeAll(() => {
  plantAll()
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  plant('.gitignore', 'node_modules\n')
  plant('tsconfig.json', read('tsconfig.json').replace('"include": [', '"include": ["*/src", '))
  const rules = read('.oxlintrc.json').replaceAll(/"src\//g, '"*/src/')
  plant('.oxlintrc.json', rules)
  const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint')
  const { stdout, stderr } = spawnSync(process.execPath, [oxlint, '--format=json', '.'], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
  expect(stderr).toBe('')
  for (const { filename, code } of (JSON.parse(stdout) as Report).diagnostics) {
    fired.set(filename, [...(fired.get(filename) ?? []), code])
  }
})

interface Report {
  readonly diagnostics: readonly { readonly filename: string; readonly code: string }[]
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isBanned = (file: string): boolean =>
  (fired.get(file) ?? []).some((code) => code.includes('no-restricted-imports'))

describe.each(LAYERS)('$room', ({ room, may, mayNot }) => {
  test.each(mayNot)('may not import %s', (specifier) => {
    const unseen = Object.keys(FORMS).filter((form) => !isBanned(caseFile(room, specifier, form)))
    expect(unseen).toEqual([])
  })

  test.each(may)('may import %s', (specifier) => {
    const refused = Object.keys(FORMS).filter((form) => isBanned(caseFile(room, specifier, form)))
    expect(refused).toEqual([])
  })
})

test.each(Object.keys(PLANTED_CODE))('the linter knows %s', (rule) => {
  expect(fired.get(`code/src/engine/${rule}.ts`)?.join()).toContain(rule)
})

test('every room of src has its layer rule', () => {
  const { overrides } = JSON.parse(read('.oxlintrc.json')) as {
    overrides: readonly { files: readonly string[]; rules: object }[]
  }
  const ruled = overrides
    .filter(({ rules }) => 'no-restricted-imports' in rules)
    .flatMap(({ files }) => files)
  const rooms = filesUnder('src').map((path) => path.replace(/^(src\/[^/]+)\/.*$/, '$1/'))
  expect([...new Set(rooms)].filter((room) => !ruled.some((files) => files.startsWith(room)))).toEqual([])
})
