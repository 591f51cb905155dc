// One trigger, delivered three times: a run whose worker dies in the middle, is taken up by another, and charges once.
// Then the timeline of all of it. The first worker is a process of its own, killed with SIGKILL.
import { fork } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createIbid } from 'ibid'
import { createRuns, timeline } from 'ibid/run'
import { sqliteStore } from 'ibid/sqlite'

const ORDER = { agent: 'orders', key: 'evt_1', trigger: { order: 'o_7', amount: 140 } }

function openWorker(folder, dies) {
  const ibid = createIbid({ store: sqliteStore(path.join(folder, 'ibid.db')), tenant: 'acme' })
  const runs = createRuns({ ibid, recoverEvery: '100ms', policy: { lease: '500ms' } })
  const bank = path.join(folder, 'bank.txt')
  const charges = () => (existsSync(bank) ? readFileSync(bank, 'utf8').trim().split('\n') : [])
  runs.register('orders', async (run) => {
    const { order, amount } = run.trigger
    const charge = await run.step('charge', (step) => {
      appendFileSync(bank, `${step.key} ${amount}\n`)
      return `ch_${charges().length}`
    })
    await run.step(
      'pack',
      () => {
        if (dies) process.kill(process.pid, 'SIGKILL')
        return `${order} is packed`
      },
      { recovery: 'retry' },
    )
    return { order, charge }
  })
  return { ibid, runs, charges }
}

async function main() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'ibid-run-'))
  const first = fork(fileURLToPath(import.meta.url), ['worker', folder])
  await new Promise((resolve) => first.once('exit', resolve))
  console.log('the first worker charged the card, and died while it packed')

  const { ibid, runs, charges } = openWorker(folder, false)
  const [one, two] = await Promise.all([runs.start(ORDER), runs.start(ORDER)])
  console.log('both deliveries of the same event:', one.value, two.value, one.runId === two.runId)
  console.log('charges at the bank:', charges())
  console.log(`\n${await timeline(ibid, { runId: one.runId })}`)
  if (charges().length !== 1 || one.value.charge !== two.value.charge) process.exitCode = 1

  await runs.close()
  await ibid.close()
  await rm(folder, { recursive: true, force: true })
}

if (process.argv[2] === 'worker') await openWorker(process.argv[3], true).runs.start(ORDER)
else await main()
