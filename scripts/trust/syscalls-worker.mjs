/**
 * A program on SQLite whose writes fail now and then: calls under keys of its own, again where one failed. An effect
 * is a line in a ledger; what the caller was told goes to a file of its own. `faulty`: a store that says yes anyway.
 */
import { appendFileSync } from 'node:fs'
import path from 'node:path'
import { createIbid } from '../../dist/index.js'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'

const [folder, calls, faulty] = process.argv.slice(2)
const told = path.join(folder, 'told.jsonl')
const effects = path.join(folder, 'effects.txt')
const sqlite = sqliteStore(path.join(folder, 'ibid.db'))
const ibid = createIbid({
  store: faulty === 'faulty' ? sayYes(sqlite) : sqlite,
  tenant: 'acme',
  housekeeping: false,
})
const keys = Array.from({ length: Number(calls) }, (_, at) => `call ${at}`).values()

async function work() {
  for (const key of keys) {
    for (let tries = 0; tries < 2; tries++) {
      const effect = () => appendFileSync(effects, `${key}\n`)
      const intent = { scope: 'disk', key, payload: { key } }
      const how = await ibid.once(intent, effect, { lease: '2s', wait: 0 }).then(
        () => 'ok',
        ({ code }) => code ?? 'unknown',
      )
      appendFileSync(told, `${JSON.stringify({ key, how })}\n`)
      if (how === 'ok') break
    }
  }
}
await Promise.all(Array.from({ length: 8 }, work))
process.exit(0)

/** The planted fault: what could not be written is said to be written. */
function sayYes(store) {
  const now = Date.now()
  const yes = (answer) => (inputs) => inputs.map(() => ({ [answer]: true, now, epoch: now * 1_000 }))
  return {
    ...store,
    claim: (wanted) => store.claim(wanted).catch(() => yes('won')(wanted)),
    swap: (changes) => store.swap(changes).catch(() => yes('done')(changes)),
  }
}
