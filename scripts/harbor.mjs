/**
 * `npm run demo:seeds`: `ibid demo` for many seeds on real servers, and what they came to together. Without flags three
 * seeds on SQLite, one on Postgres and one on Redis.
 *
 *   node scripts/harbor.mjs [--seeds 100] [--from 1] [--stores sqlite,postgres,redis] [--jobs 2] [--keep file]
 *     [-- --only tool …]
 *
 * --keep writes what each storm came to into a file; docs/harbor.json is what the picture in the README is drawn from.
 * What stands behind -- goes to the demo: more columns, or fewer refunds. Storms without guards need no store, so they
 * are run with the first one only. Ends with 1 if a storm with all layers had a duplicate or a loss, or if one
 * without guards had duplicates for no more than a third of its refunds.
 */
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { startPostgres } from './servers/postgres.mjs'
import { startRedis } from './servers/redis.mjs'

const run = promisify(execFile)
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const USUAL = { sqlite: 3, postgres: 1, redis: 1 }
/** Every seed has a SQLite file of its own; the servers are shared, under tenants of their own. */
const START = { sqlite: async () => undefined, postgres: startPostgres, redis: startRedis }

const { values: flags, positionals: more } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    stores: { type: 'string', default: Object.keys(USUAL).join(',') },
    jobs: { type: 'string', default: '2' },
    keep: { type: 'string' },
  },
})

const names = flags.stores.split(',')

async function oneSeed(store, seed, server, isFirst) {
  const compared = isFirst ? [] : ['--guarded']
  const args = [main, 'demo', '--json', '--seed', String(seed), ...compared, ...more]
  const onServer = server ? ['--store', server.url] : []
  const { stdout, stderr } = await run(process.execPath, [...args, ...onServer], { maxBuffer: 1e8 }).catch(
    (error) => error,
  )
  // A storm that did not end is one that went wrong; the others go on.
  if (!stdout) return { store, seed, outcomes: [], ok: false, verdict: stderr.trim() }
  const { folder, ok, seeds } = JSON.parse(stdout)
  const { outcomes } = seeds[0]
  const open = outcomes.find(({ arm }) => arm === 'no guards')
  const isBad = open !== undefined && !more.includes('--trouble') && open.duplicateRefunds <= open.refunds / 3
  if (ok && !isBad) rmSync(folder, { recursive: true, force: true })
  const verdict = ok ? (isBad ? 'TOO CALM' : 'ok') : `NOT CLEAN, see ${folder}`
  return { store, seed, outcomes, ok: ok && !isBad, verdict }
}

const brief = ({ arm, duplicateRefunds, duplicateMails, lostRefunds, lostMails, held }) =>
  `${arm} ${duplicateRefunds}+${duplicateMails}/${lostRefunds + lostMails}/${held}`

async function onStore(name) {
  const server = await START[name]()
  const count = Number(flags.seeds ?? USUAL[name])
  const todo = Array.from({ length: count }, (_, at) => Number(flags.from) + at)
  const results = []
  async function work() {
    for (let seed = todo.shift(); seed !== undefined; seed = todo.shift()) {
      const result = await oneSeed(name, seed, server, name === names[0])
      results.push(result)
      console.log(`${name} seed ${seed}  ${result.verdict}  ${result.outcomes.map(brief).join(' · ')}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: Number(flags.jobs) }, work))
  } finally {
    await server?.stop()
  }
  return results
}

/** Duplicate refunds and e-mails of charges that had one trouble and no other, by trouble and layers. */
function byTrouble(outcomes) {
  const troubles = Object.keys(outcomes[0].byTrouble)
  const sum = (arm, trouble, field) =>
    outcomes
      .filter((outcome) => outcome.arm === arm)
      .reduce((all, outcome) => all + outcome.byTrouble[trouble][field], 0)
  const arms = [...new Set(outcomes.map(({ arm }) => arm))]
  const cell = (arm, trouble) =>
    `${sum(arm, trouble, 'duplicateRefunds')} + ${sum(arm, trouble, 'duplicateMails')}`
  const lines = troubles.map(
    (trouble) =>
      `| ${trouble} | ${sum(arms.at(-1), trouble, 'charges')} | ${arms.map((arm) => cell(arm, trouble)).join(' | ')} |`,
  )
  return [
    `| | charges | ${arms.join(' | ')} |`,
    `| --- |${' ---: |'.repeat(arms.length + 1)}`,
    ...lines,
  ].join('\n')
}

/** A line for each storm. */
function kept(all) {
  const lines = all.flatMap(({ store, seed, outcomes: each }) =>
    each.map(({ arm, refunds, duplicateRefunds, duplicateMails, lostRefunds, lostMails, held }) =>
      JSON.stringify({
        store,
        seed,
        arm,
        refunds,
        duplicateRefunds,
        duplicateMails,
        lost: lostRefunds + lostMails,
        held,
      }),
    ),
  )
  return `[\n${lines.join(',\n')}\n]\n`
}

const percent = (part) => `${(part * 100).toFixed(1)} %`

console.log('duplicate refunds + duplicate e-mails / lost / held\n')
const results = []
for (const name of names) results.push(...(await onStore(name)))

const outcomes = results.flatMap((result) => result.outcomes)
if (flags.keep) writeFileSync(flags.keep, kept(results))
console.log(
  `\nduplicate refunds + e-mails, of charges with one trouble and no other:\n\n${byTrouble(outcomes)}\n`,
)
for (const arm of new Set(outcomes.map((outcome) => outcome.arm))) {
  const all = outcomes.filter((outcome) => outcome.arm === arm)
  const sum = (field) => all.reduce((total, outcome) => total + outcome[field], 0)
  const [refunds, twice] = [sum('refunds'), sum('duplicateRefunds')]
  const least = Math.min(...all.map((outcome) => outcome.duplicateRefunds / outcome.refunds))
  const parts = [
    `${arm}: ${all.length} storms`,
    `${twice} of ${refunds} refunds twice (${percent(twice / refunds)}, at least ${percent(least)})`,
    `${sum('duplicateMails')} e-mails twice`,
    `${sum('lostRefunds')} refunds and ${sum('lostMails')} e-mails lost`,
    `${sum('held')} held`,
    `${sum('kills')} instances killed`,
  ]
  console.log(parts.join(', '))
}
const bad = results.filter(({ ok }) => !ok)
console.log(`${results.length - bad.length} of ${results.length} seeds as they must be`)
process.exitCode = bad.length === 0 ? 0 : 1
