/** Says what will be sent, sends it, and tells what was found. */
import { checkIdempotency, type CheckOptions, type Target, variantOf } from '../../testing/index.js'
import { EXIT } from '../exit-codes.js'
import { print } from '../print.js'
import { startProgress } from '../progress.js'
import { type CommonFlags, termsOf } from './flags.js'
import { mustBeWritable, writeJunit } from './junit.js'
import { planOf, planText } from './plan.js'
import { probeOf } from './probe.js'
import { reportText } from './report.js'

type Payloads = Pick<CheckOptions, 'payload' | 'otherPayload' | 'failingPayload' | 'slowPayload'>

export interface Job {
  readonly open: () => Promise<Target>
  /** As it is shown before it is opened. */
  readonly name: string
  readonly payloadName: string
  readonly payloads: Payloads
  readonly restart: string | undefined
}

export async function run(flags: CommonFlags, job: Job): Promise<void> {
  const { json } = flags
  const otherPayload = job.payloads.otherPayload ?? variantOf(job.payloads.payload)
  const options: CheckOptions = { ...termsOf(flags), ...job.payloads, otherPayload }
  const plan = planOf(job, options, { probe: flags.probe, restart: job.restart })
  if (flags.junit !== undefined) mustBeWritable(flags.junit)
  if (flags.dryRun) return print(json, { json: { plan }, text: () => planText(plan) })
  if (!json) process.stderr.write(`${planText(plan)}\n`)
  const probe = await probeOf(flags.probe)
  const progress = startProgress(json === true)
  let target: Target | undefined
  try {
    target = await job.open()
    const report = await checkIdempotency(target, {
      ...options,
      probe: probe?.count,
      onProperty: ({ id }) => progress.say(() => `${id}…`),
    })
    progress.end()
    if (!report.ok) process.exitCode = EXIT.findings
    print(json, { json: { ...report, plan }, text: () => reportText(report) })
    if (flags.junit !== undefined) writeJunit(flags.junit, report)
  } finally {
    progress.end()
    await Promise.all([target?.close(), probe?.close()])
  }
}
