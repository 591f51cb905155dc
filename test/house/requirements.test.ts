/**
 * docs/requirements.md is what `npm run requirements` writes, and leaves no requirement without a test. That those
 * tests ran and passed is checked by `npm test`, from the report of the run.
 */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { read, root } from './files.js'

interface Requirements {
  readonly statements: Readonly<Record<string, string>>
  readonly tests: readonly {
    readonly file: string
    readonly name: string
    readonly numbers: readonly string[]
  }[]
  readonly page: string
}

const script = pathToFileURL(join(root, 'scripts', 'requirements.mjs')).href
const { statements, tests, page } = JSON.parse(
  execFileSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { namedTests, page, statements } from '${script}'
       console.log(JSON.stringify({ statements: statements(), tests: namedTests(), page: page() }))`,
    ],
    { encoding: 'utf8', maxBuffer: 1e8 },
  ),
) as Requirements

test.each(Object.keys(statements))('a test is there that carries %s', (number) => {
  const proofs = tests.filter((one) => one.numbers.includes(number))
  expect(proofs.length, `no test has [${number}] in its name: ${statements[number]}`).toBeGreaterThan(0)
})

test('no test carries a number that is not a requirement', () => {
  const unknown = tests.flatMap(({ file, name, numbers }) =>
    numbers.filter((number) => !(number in statements)).map((number) => `${file}: ${number} in ${name}`),
  )
  expect(unknown).toEqual([])
})

test('docs/requirements.md is up to date (npm run requirements)', () => {
  expect(read('docs/requirements.md')).toBe(page)
})
