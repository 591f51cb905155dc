/**
 * A process that makes calls through one package: worker.mjs <order as JSON>. It says `effect` when one has
 * happened, and then, if it is to hold, waits until a file named `go` is there: the moment at which it is paused
 * or killed. The outcome of each call is a line of JSON.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const { module, settings, calls, isHeld, patienceMs } = JSON.parse(process.argv[2])
const { folder } = settings
const { open } = await import(module)
const guard = await open(settings)

async function effect() {
  appendFileSync(`${folder}/effects.log`, '.')
  const number = readFileSync(`${folder}/effects.log`, 'utf8').length
  console.log('effect')
  if (isHeld) while (!existsSync(`${folder}/go`)) await sleep(10)
  return { refund: number }
}

/** Comes back as long as it is told that the first is still at it. */
async function outcomeOf(call) {
  const until = Date.now() + patienceMs
  for (;;) {
    try {
      return { value: (await guard.call(call, effect)).refund }
    } catch (error) {
      const told = error.code ?? error.name
      if (!guard.isUnderWay(error)) return { refused: told }
      if (Date.now() > until) return { waiting: told }
      await sleep(100)
    }
  }
}

for (const call of calls) console.log(JSON.stringify(await outcomeOf(call)))
try {
  await guard.close()
} finally {
  process.exit()
}
