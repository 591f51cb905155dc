/**
 * Mutation score: how many small wrong changes of the rules, the keys and the engine the tests notice. Our own mutator,
 * over the syntax tree; each mutant is asked of the tests that are nearest to it first, then of the rest.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { openBench } from '../benches/bench.mjs'
import { EXPLAINED } from './mutation/explained.mjs'
import { apply, mutantsOf } from './mutation/mutants.mjs'
import { isThere, root } from './work.mjs'

const LANES = 2
const MINUTES = Number(process.env.IBID_TRUST_MUTATION_MINUTES ?? 20)
/** Each part in a random order, all of core first: of the others there may be time for a fair sample only. */
const SEED = 23
/** Mutants of the engine that are tried before those of key: they take the longest, and would come too late. */
const SAMPLE = 40
const ALL_PARTS = ['core', 'key', 'engine']
/** Fewer parts, where only these were changed; the row says which. */
const PARTS = process.env.IBID_TRUST_MUTATION_PARTS?.split(',') ?? ALL_PARTS
/** Below this share of mutants killed, core and key do not pass. */
const LEAST = 0.95
const BOUND = ['core', 'key']
/** Of these each survivor has its reason in explained.mjs. */
const ALL_EXPLAINED = ['core']
/** A file without a change that cannot be seen: of twenty, one of those would be too many. */
const QUICK = ['src/core/transitions.ts']

export const mutation = {
  id: 'mutation',
  property: 'The tests notice small wrong changes of core, key and engine',
  async run({ quick, progress }) {
    const strange = PARTS.filter((part) => !ALL_PARTS.includes(part))
    if (strange.length > 0) return { error: `no such part: ${strange.join(', ')}` }
    const { random } = await import('../../dist/testing/random.js')
    const { shuffle } = random(SEED)
    const every = inTurn(Object.fromEntries(PARTS.map((part) => [part, shuffle(mutantsIn(part))])))
    const all = quick ? every.filter(({ file }) => QUICK.includes(file)).slice(0, 20) : every
    const stopMs = performance.now() + MINUTES * 60_000
    const benches = await Promise.all(Array.from({ length: quick ? 1 : LANES }, openBench))
    try {
      for (const file of quick ? QUICK : firstFiles(every)) {
        progress(`the tests of ${file}, without any mutant`)
        const red = await benches[0].ask({ file, stages: stagesOf(file).slice(0, quick ? 1 : undefined) })
        if (red !== undefined) return { error: `red without any mutant: ${red}` }
      }
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
      // A part that has a bound is not passed over in silence.
      const untried = BOUND.filter((part) => countIn(all, part) > 0 && countIn(tried, part) === 0)
      if (untried.length > 0)
        return { error: `the time was up before any mutant of ${untried.join(' and ')}` }
      return reportOf(tried, every, await control(benches[0]))
    } finally {
      for (const bench of benches) bench.close()
    }
  },
}

function inTurn({ core = [], key = [], engine = [] }) {
  return [...core, ...engine.slice(0, SAMPLE), ...key, ...engine.slice(SAMPLE)]
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

/** One of each part: its later stages are those of the whole part. */
function firstFiles(mutants) {
  return PARTS.map((part) => mutants.find((mutant) => mutant.part === part).file)
}

/**
 * Changes that must be noticed, and one that cannot be: a runner that calls both the same tells nothing. What the
 * second change breaks must not be held against the third, which is asked of the same tests.
 */
async function control(bench) {
  const [unit, retry] = ['src/core/duration.ts', 'src/core/errors.ts']
  const stages = [['test/core/duration.test.ts'], ['test/core/errors.test.ts']]
  const ask = (file, change) =>
    bench.ask({ file, text: change(readFileSync(path.join(root, file), 'utf8')), stages })
  const caught = [
    (await ask(unit, (source) => source.replace('86_400_000', '86_400_001'))) !== undefined,
    (await ask(retry, (source) => source.replace('retriable: false', 'retriable: true'))) !== undefined,
    (await ask(unit, (source) => `${source}\n// the same\n`)) === undefined,
  ]
  return { planted: caught.length, caught: caught.filter(Boolean).length }
}

const countIn = (mutants, part) => mutants.filter((mutant) => mutant.part === part).length

function reportOf(tried, all, controlled) {
  const survivors = tried.filter(({ killedBy }) => killedBy === undefined)
  const unexplained = survivors.filter((mutant) => whyOf(mutant) === undefined)
  const scores = PARTS.map((part) => ({ part, tried: countIn(tried, part), of: countIn(all, part) }))
    .filter((score) => score.tried > 0)
    .map((score) => ({
      ...score,
      killed: 1 - countIn(survivors, score.part) / score.tried,
      unexplained: countIn(unexplained, score.part),
    }))
  const notes = [
    ...(PARTS.length === ALL_PARTS.length ? [] : [`only ${PARTS.join(' and ')}`]),
    `score ${scores.map(tell).join(', ')}`,
    `${survivors.length} survivors; not explained: ${scores.map(({ part, unexplained: left }) => `${part} ${left}`).join(', ')}`,
  ]
  return {
    ran: { mutants: tried.length, killed: tried.length - survivors.length },
    // What could go wrong is a score below its bound: mutants are no tries at that, and no rate follows from them.
    tried: 0,
    exhaustive: tried.length === all.length,
    seeds: `${SEED}`,
    violations:
      scores.filter(({ part, killed }) => BOUND.includes(part) && killed < LEAST).length +
      scores.filter((score) => ALL_EXPLAINED.includes(score.part) && score.unexplained > 0).length,
    control: controlled,
    note: notes.join('; '),
    details: survivors.map(describe),
  }
}

const tell = ({ part, tried, of, killed }) =>
  `${part} ${percent(killed)} of ${tried === of ? 'all' : `a random ${tried} of`} ${of}`

const percent = (share) => `${(share * 100).toFixed(1)} %`

const codeOf = ({ source, from }) =>
  source.slice(source.lastIndexOf('\n', from) + 1, source.indexOf('\n', from)).trim()

function whyOf(mutant) {
  const code = codeOf(mutant)
  return EXPLAINED.find(
    ({ file, code: part, what }) =>
      file === mutant.file && code.includes(part) && [what ?? mutant.what].flat().includes(mutant.what),
  )?.why
}

function describe(mutant) {
  const { file, line, what } = mutant
  const why = whyOf(mutant)
  return `survived: ${file}:${line}, ${what}: \`${codeOf(mutant).slice(0, 90)}\`${why ? `. ${why}` : ''}`
}
