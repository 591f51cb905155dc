/**
 * Writes docs/requirements.md: each requirement of docs/requirements.json with the tests that carry its number
 * in brackets, `[R22]` or `[R4, R8]`, in their names. Names are read from test/ and from the suites in
 * src/testing that users can run as well.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const root = new URL('..', import.meta.url)
const BRACKETS = /\[(R\d+(?:[, ]+R\d+)*)\]/g
/** A string literal on one line: test names are written as one. */
const LITERAL = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\\n]|\\.)*)`/g

/** Number → the requirement in one line. */
export function statements() {
  return JSON.parse(readFileSync(new URL('docs/requirements.json', root), 'utf8'))
}

export function numbersIn(name) {
  return [...name.matchAll(BRACKETS)].flatMap(([, numbers]) => numbers.split(/[, ]+/))
}

/** Every test name with a number: `{ file, name, numbers }`, in a stable order. */
export function namedTests() {
  return ['test', 'src/testing'].flatMap(sourceFiles).flatMap((file) =>
    [...readFileSync(new URL(file, root), 'utf8').matchAll(LITERAL)]
      .map(([, single, double, template]) => (single ?? double ?? template).replaceAll(/\\(.)/g, '$1'))
      .map((name) => ({ file, name, numbers: numbersIn(name) }))
      .filter(({ numbers }) => numbers.length > 0),
  )
}

function sourceFiles(folder) {
  return readdirSync(new URL(`${folder}/`, root), { recursive: true })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.ts') && !file.startsWith('test/house/'))
    .sort()
}

export function page() {
  const tests = namedTests()
  const sections = Object.entries(statements()).map(([number, statement]) => {
    const proofs = tests.filter(({ numbers }) => numbers.includes(number))
    const lines = proofs.map(({ file, name }) => `- [${file}](../${file}): ${escaped(name)}`)
    return `## ${number}\n\n${statement}\n\n${lines.join('\n') || '**No test proves this yet.**'}\n`
  })
  const head = `# Requirements, and the tests that prove them

Written by \`npm run requirements\` from the names of the tests; the statements are in
[requirements.json](requirements.json). A requirement without a test that ran and passed fails \`npm test\`.
`
  return [head, ...sections].join('\n')
}

function escaped(name) {
  return name.replaceAll(/[[\]<>*_`|]/g, '\\$&')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(new URL('docs/requirements.md', root), page())
}
