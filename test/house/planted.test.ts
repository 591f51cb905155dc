/** The planted defects: each still fits its source, and the run that tries them can tell caught from not caught. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
// @ts-expect-error: a plain script without types
import { apply, defects } from '../../scripts/planted/defects.mjs'

interface Defect {
  readonly name: string
  readonly file: string
  readonly tests: readonly string[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const all = defects as readonly Defect[]

function planted(...args: string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/planted.mjs', ...args], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

describe('planted defects', () => {
  it('are at least forty, each under a name of its own', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    expect(all.length).toBeGreaterThanOrEqual(40)
  })

  it.each(all)('$name: still fits $file', (defect) => {
    const source = readFileSync(`${root}${defect.file}`, 'utf8')
    expect((apply as (d: Defect, s: string) => string)(defect, source)).not.toBe(source)
  })

  it('are caught, and the catcher is named', { timeout: 120_000 }, () => {
    const { status, output } = planted('--only', 'parts of a key template')
    expect(output).toMatch(/caught by: .+/)
    expect(output).toContain('1 of 1 planted defects caught')
    expect(status).toBe(0)
  })

  it('are reported when nothing catches them', { timeout: 120_000 }, () => {
    const { status, output } = planted('--control')
    expect(output).toContain('NOT CAUGHT: control')
    expect(status).toBe(1)
  })
})
