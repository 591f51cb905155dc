/**
 * Every code block of the README runs. Blocks in TypeScript are type-checked as a user's program would be, in a
 * folder where 'ibid' and its optional peers are installed; one marked `ts no-run` is only type-checked.
 */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { manifest, read, root } from './files.js'

interface Block {
  readonly title: string
  readonly file: string
  readonly code: string
  readonly language: string
  readonly runs: boolean
}

interface Storm {
  readonly arm: string
  readonly refunds: number
  readonly duplicateRefunds: number
  readonly lost: number
}

const LONGEST_FIRST = 12
const blocks = existsSync(join(root, 'README.md')) ? blocksOf(read('README.md')) : []
const folder = mkdtempSync(join(tmpdir(), 'ibid-readme-'))
let checked: SpawnSyncReturns<string>

function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(ts|js)([^\n]*)\n([^]*?)^```/gm)].map((match, at) => {
    const [, language = '', info = '', code = ''] = match
    const line = page.slice(0, match.index).split('\n').length
    const file = `block${at + 1}.${language === 'ts' ? 'ts' : 'mjs'}`
    return {
      title: `line ${line} (${language}${info})`,
      file,
      code,
      language,
      runs: !/\bno-run\b/.test(info),
    }
  })
}

function node(args: readonly string[], cwd: string): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, args, { cwd, encoding: 'utf8', timeout: 50_000 })
}

beforeAll(() => {
  link(root, manifest.name)
  for (const name of ['@types/node', ...Object.keys(manifest.peerDependencies)]) {
    link(join(root, 'node_modules', name), name)
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    outDir: 'out',
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  // A block without imports is a program of its own all the same.
  for (const { file, code } of blocks) writeFileSync(join(folder, file), `${code}\nexport {}\n`)
  checked = node([join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder], folder)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function link(target: string, name: string): void {
  const path = join(folder, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path, 'junction')
}

describe('README.md', () => {
  test(`has code, and a first example of at most ${LONGEST_FIRST} lines`, () => {
    const [first] = blocks
    expect(first).toBeDefined()
    expect(first?.code.trimEnd().split('\n').length).toBeLessThanOrEqual(LONGEST_FIRST)
  })

  test('[R62] opens with three lines and a picture, and claims what the storms that are kept came to', () => {
    const storms = JSON.parse(read('docs/harbor.json')) as Storm[]
    const of = (arm: string): Storm[] => storms.filter((storm) => storm.arm === arm)
    const sum = (list: readonly Storm[], field: 'refunds' | 'duplicateRefunds' | 'lost'): number =>
      list.reduce((total, storm) => total + storm[field], 0)
    const [guarded, open] = [of('all layers'), of('no guards')]
    expect([sum(guarded, 'duplicateRefunds'), sum(guarded, 'lost')]).toEqual([0, 0])
    const opening = read('README.md').split('```')[0] as string
    expect(opening.match(/^- /gm)).toHaveLength(3)
    expect(opening).toContain('(docs/images/storms.svg)')
    expect(opening).toContain(`${guarded.length} storms`)
    expect(opening).toContain(`${sum(guarded, 'refunds').toLocaleString('en')} refunds`)
    const twice = sum(open, 'duplicateRefunds') / sum(open, 'refunds')
    expect(opening).toContain(`paid ${Math.round(twice * 100)} % of`)
    expect(read('docs/images/storms.svg')).toContain(
      `of ${sum(guarded, 'refunds').toLocaleString('en')} paid`,
    )
  })

  test('writes its code in blocks that are run: ts or js', () => {
    const fences = [...read('README.md').matchAll(/^```(\w+)/gm)].map(([, language = '']) => language)
    expect(fences.filter((language) => /^(typescript|javascript|[mc]?[tj]sx?)$/.test(language))).toEqual(
      blocks.map(({ language }) => language),
    )
    // Whatever tsc says that is not about a block is about all of them.
    const others = checked.stdout.split('\n').filter((line) => !/^(block\d+\.ts\(|\s|$)/.test(line))
    expect(blocks.some(({ language }) => language === 'ts') ? others : []).toEqual([])
  })

  test.each(blocks.filter((block) => block.language === 'ts'))('$title type-checks', ({ file }) => {
    const errors = checked.stdout.split('\n').filter((line) => line.startsWith(`${file}(`))
    expect(errors).toEqual([])
  })

  test.each(blocks.filter((block) => block.runs))('$title runs', ({ file, language }) => {
    const program = language === 'ts' ? join(folder, 'out', file.replace('.ts', '.js')) : join(folder, file)
    const cwd = mkdtempSync(join(folder, 'run-'))
    const { status, signal, stdout, stderr } = node([program], cwd)
    expect(signal ?? status, `${stdout}${stderr}`).toBe(0)
  })
})
