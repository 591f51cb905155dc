/** A process of its own on the file of a test: `node child.mjs <mode> <file> <options>`. Answers in JSON lines. */
import { writeSync } from 'node:fs'
import { sqliteStore } from '../../dist/stores/sqlite/index.js'

const [, , mode, file, json] = process.argv
const { uid, keys, batch, ...options } = JSON.parse(json ?? '{}')
if (uid !== undefined) process.setuid(uid)
const store = sqliteStore(file, options)

function tell(line) {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

function draft(key, token = `${process.pid}-${key}`) {
  const stamps = { outcome: null, epoch: null, createdAt: null, forMs: 3_600_000 }
  const terms = { attempt: 1, maxAttempts: 5, recovery: 'hold', leaseMs: 30_000, windowMs: 86_400_000 }
  const address = { tenant: 'acme', scope: 'refund', key, fingerprint: 'f' }
  return { ...address, token, state: 'pending', ...terms, ...stamps, audit: { event: 'claimed' } }
}

const MODES = {
  /** Claims the given keys, each in its turn. */
  async claim() {
    const won = []
    for (let at = 0; at < keys.length; at += batch) {
      const wanted = keys.slice(at, at + batch)
      const claimed = await store.claim(wanted.map((key) => draft(key)))
      won.push(...wanted.filter((_, i) => claimed[i].won))
    }
    tell({ won })
    await store.close()
  },
  /** Claims batches of new keys for ever; each is told after it was acknowledged. */
  async load() {
    for (let number = 0; ; number++) {
      const wanted = Array.from({ length: batch }, (_, i) => `${process.pid}:${number}:${i}`)
      await store.claim(wanted.map((key) => draft(key)))
      tell({ number })
    }
  },
  /** One claim, and then the end of the program, without a close. */
  async leave() {
    const [{ won }] = await store.claim([draft('left')])
    tell({ won })
  },
  async fail() {
    try {
      await store.claim([draft('refused')])
      tell({ won: true })
    } catch ({ code, message, action }) {
      tell({ code, message, action })
    }
    await store.close()
  },
}

await MODES[mode]()
