// The Sunday incident: an agent refunds a customer, dies before it hears back, and is replayed, four times over.
// First with an idempotency key made inside the tool wrapper, then with ibid. Nothing here is mocked but the bank:
// the agents are processes of their own, and they are killed with SIGKILL.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createIbid } from 'ibid'
import { sqliteStore } from 'ibid/sqlite'

const REFUND = { payment: 'pay_8123', amount: 14_000 }
const RUNS = 4

// ---- the agent: one step of a workflow, wf_81:step_3, in a process of its own --------------------------------

async function askBank(bank, key) {
  const response = await fetch(`${bank}/refunds`, {
    method: 'POST',
    body: JSON.stringify({ key, ...REFUND }),
  })
  return response.json()
}

async function agentWithKeyFromWrapper(bank) {
  return { refund: await askBank(bank, randomUUID()), how: 'refunded' }
}

async function agentWithIbid(bank, file) {
  const ibid = createIbid({ store: sqliteStore(file), tenant: 'harbor' })
  const intent = { scope: 'tool:issue_refund', key: 'wf_81:step_3', payload: REFUND }
  const check = async (attempt) => {
    const [found] = await (await fetch(`${bank}/refunds?key=${attempt.key}`)).json()
    return found ? { found: true, value: found } : { found: false }
  }
  const policy = { window: '7d', lease: '300ms', recovery: { check } }
  const { value, replayed } = await ibid.once(intent, (attempt) => askBank(bank, attempt.key), policy)
  await ibid.close()
  return { refund: value, how: replayed ? 'already done' : 'refunded' }
}

// ---- the bank, and the deploy that kills agents --------------------------------------------------------------

async function openBank() {
  const refunds = []
  let onRefund
  const server = createServer((request, response) => {
    const wanted = new URL(request.url, 'http://bank').searchParams.get('key')
    if (wanted) {
      response.end(JSON.stringify(refunds.filter(({ key }) => key === wanted)))
      return
    }
    request.setEncoding('utf8').once('data', (body) => {
      const refund = { id: `re_${refunds.length + 1}`, ...JSON.parse(body) }
      refunds.push(refund)
      onRefund?.()
      setTimeout(() => response.end(JSON.stringify(refund)), 50)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    refunds,
    killOnRefund: (kill) => (onRefund = kill),
    close: () => server.close(),
  }
}

/** One run of the agent. The deploy takes it down the moment the money has moved, or when it is done. */
async function runAgent(mode, bank, file, isLast) {
  const agent = fork(fileURLToPath(import.meta.url), ['agent', mode, bank.url, file])
  const gone = new Promise((resolve) => agent.once('exit', (_code, signal) => resolve(signal)))
  let answer
  agent.once('message', (message) => (answer = message))
  bank.killOnRefund(() => !isLast && agent.kill('SIGKILL'))
  const signal = await gone
  return { answer, killed: signal === 'SIGKILL' }
}

// ---- the story ----------------------------------------------------------------------------------------------

const paint = (code, text) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text)
const rupees = (amount) => `₹${amount.toLocaleString('en-IN')}`

async function tellTheStory() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'ibid-sunday-'))
  const file = path.join(folder, 'ibid.db')

  async function act(title, mode) {
    const bank = await openBank()
    console.log(`\n${paint('1', title)}\n`)
    for (let run = 1; run <= RUNS; run++) {
      const before = bank.refunds.length
      const { answer, killed } = await runAgent(mode, bank, file, run === RUNS)
      const paid = bank.refunds.length > before
      const money = paid
        ? paint('31', `${rupees(REFUND.amount)} leaves the bank`.padEnd(24))
        : 'no money moves'.padEnd(24)
      const end = killed ? 'killed before it hears back' : `${answer.how}: ${answer.refund.id}`
      console.log(`  run ${run}   ${money}   ${end}`)
    }
    bank.close()
    const total = bank.refunds.reduce((sum, { amount }) => sum + amount, 0)
    const bar = '█'.repeat(bank.refunds.length * 8)
    const tint = bank.refunds.length === 1 ? '32' : '31'
    console.log(`\n  ${paint(tint, `${bar} ${rupees(total)} refunded, ${bank.refunds.length}×`)}`)
    return bank.refunds.length
  }

  console.log('A customer is owed ₹14,000. The agent that refunds it is killed by a deploy, and replayed.')
  const without = await act('1. The key is made in the tool wrapper: a new one for every run', 'wrapper')
  const withIbid = await act('2. ibid.once, keyed by the workflow step', 'ibid')

  const ibid = createIbid({ store: sqliteStore(file), tenant: 'harbor' })
  const history = await ibid.history({ scope: 'tool:issue_refund', key: 'wf_81:step_3' })
  await ibid.close()
  console.log(`\n${paint('1', 'What the receipt of wf_81:step_3 remembers')}\n`)
  for (const { at, event, attempt, count } of history) {
    const time = new Date(at).toISOString().slice(11, 23)
    console.log(`  ${time}   ${event.padEnd(10)} attempt ${attempt}${count > 1 ? `, ${count} times` : ''}`)
  }
  console.log(`\nDo it once; after that, ibid.  ${without} refunds became ${withIbid}.\n`)
  await rm(folder, { recursive: true, force: true })
  if (without !== RUNS || withIbid !== 1) process.exitCode = 1
}

if (process.argv[2] === 'agent') {
  const [, , , mode, bank, file] = process.argv
  const answer = mode === 'ibid' ? await agentWithIbid(bank, file) : await agentWithKeyFromWrapper(bank)
  process.send(answer, () => process.disconnect())
} else {
  await tellTheStory()
}
