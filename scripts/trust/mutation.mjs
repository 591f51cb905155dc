/**
 * Mutation score: how many small wrong changes of the rules, the keys and the engine the tests notice. Our own mutator,
 * over the syntax tree; each mutant is asked of the tests that are nearest to it first, then of the rest.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { openBench } from './mutation/benches.mjs'
import { EXPLAINED } from './mutation/explained.mjs'
import { apply, mutantsOf } from './mutation/mutants.mjs'
import { isThere, root } from './work.mjs'

const LANES = 2
const MINUTES = Number(process.env.IBID_TRUST_MUTATION_MINUTES ?? 45)
/** The order is random, so that what was tried when the time is up is a fair sample. */
const SEED = 23
const PARTS = ['core', 'key', 'engine']
/** Below this share of mutants killed, core and key do not pass. */
const LEAST = 0.95
const BOUND = ['core', 'key']
const QUICK = ['src/core/duration.ts']

export const mutation = {
  id: 'mutation',
  property: 'The tests notice small wrong changes of core, key and engine',
  async run({ quick, progress }) {
    const { random } = await import('../../dist/testing/random.js')
    const every = PARTS.flatMap(mutantsIn).filter(({ file }) => !quick || QUICK.includes(file))
    const all = random(SEED)
      .shuffle(every)
      .slice(0, quick ? 20 : undefined)
    const stopMs = performance.now() + MINUTES * 60_000
    const benches = await Promise.all(Array.from({ length: quick ? 1 : LANES }, openBench))
    try {
      const red = await benches[0].ask({ file: 'src/core/duration.ts', stages: [stagesOf(QUICK[0])[0]] })
      if (red !== undefined) return { error: `red without any mutant: ${red}` }
      const waiting = all.entries()
      let done = 0
      await Promise.all(
        benches.map(async (bench) => {
          for (const [, mutant] of waiting) {
            if (performance.now() > stopMs) break
            const { file, source } = mutant
            mutant.isTried = true
            mutant.killedBy = await bench.ask({ file, text: apply(source, mutant), stages: stagesOf(file) })
            if (++done % 20 === 0) progress(`${done} of ${all.length} mutants`)
          }
        }),
      )
      const tried = all.filter(({ isTried }) => isTried)
      return reportOf(tried, every.length, await control(benches[0]))
    } finally {
      for (const bench of benches) bench.close()
    }
  },
}

function mutantsIn(part) {
  return filesIn(`src/${part}`, '.ts').flatMap((file) => {
    const source = readFileSync(path.join(root, file), 'utf8')
    return mutantsOf(source).map((mutant) => ({ part, file, source, ...mutant }))
  })
}

function filesIn(folder, ending) {
  return readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`)
}

/** The tests of its own name, then those of its folder, then those that stand on it. */
function stagesOf(file) {
  const [, part, name] = file.split('/')
  const own = `test/${part}/${name.replace('.ts', '.test.ts')}`
  const slow = ['test/key/properties.test.ts']
  const beside = filesIn(`test/${part}`, '.test.ts').filter((test) => test !== own && !slow.includes(test))
  const after = {
    core: filesIn('test/engine', '.test.ts'),
    key: slow,
    engine: ['test/proof/findings.test.ts'],
  }
  return [isThere(own) ? [own] : [], beside, after[part]].filter((stage) => stage.length > 0)
}

/** One change that must be noticed, and one that cannot be: a runner that calls both the same tells nothing. */
async function control(bench) {
  const file = 'src/core/duration.ts'
  const source = readFileSync(path.join(root, file), 'utf8')
  const stages = [['test/core/duration.test.ts']]
  const broken = await bench.ask({ file, text: source.replace('86_400_000', '86_400_001'), stages })
  const same = await bench.ask({ file, text: `${source}\n// the same\n`, stages })
  return { planted: 2, caught: (broken === undefined ? 0 : 1) + (same === undefined ? 1 : 0) }
}

function reportOf(all, count, controlled) {
  const parts = PARTS.filter((part) => all.some((mutant) => mutant.part === part))
  const killedIn = (part) =>
    all.filter((mutant) => mutant.part === part && mutant.killedBy !== undefined).length
  const countIn = (part) => all.filter((mutant) => mutant.part === part).length
  const scores = parts.map((part) => [part, killedIn(part) / countIn(part)])
  const survivors = all.filter(({ killedBy }) => killedBy === undefined)
  return {
    ran: { mutants: all.length, killed: all.length - survivors.length },
    tried: all.length,
    exhaustive: all.length === count,
    seeds: `${SEED}`,
    violations: scores.filter(([part, score]) => BOUND.includes(part) && score < LEAST).length,
    control: controlled,
    note: `${all.length === count ? '' : `a random sample of ${count}; `}score ${scores.map(([part, score]) => `${part} ${percent(score)}`).join(', ')}`,
    details: survivors.map(describe),
  }
}

const percent = (share) => `${(share * 100).toFixed(1)} %`

function describe({ file, source, from, line, what }) {
  const code = source.slice(source.lastIndexOf('\n', from) + 1, source.indexOf('\n', from)).trim()
  const why = EXPLAINED.find(
    (one) => one.file === file && code.includes(one.code) && (one.what ?? what) === what,
  )
  return `survived: ${file}:${line}, ${what}: \`${code.slice(0, 90)}\`${why ? `. ${why.why}` : ''}`
}
