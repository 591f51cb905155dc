/**
 * `ibid doctor`: is everything set up so that the promises hold? Store, configuration, contracts, clock, and what is
 * left undone. Every finding says what to do; an error is something that can lead to a second effect, or to none.
 */
import { Command } from 'commander'
import { checkConfiguration } from './doctor/configuration.js'
import { checkContracts } from './doctor/contracts.js'
import type { Diagnosis } from './doctor/diagnosis.js'
import { checkClock, checkStore, checkUndone } from './doctor/store.js'
import { EXIT } from './exit-codes.js'
import { fail } from './fail.js'
import { paint } from './paint.js'
import { print } from './print.js'
import { scrub } from './secrets.js'
import { type StoreOptions, useStore, withStore } from './store-option.js'
import { facts } from './table.js'
import { safe } from './text.js'

interface Options extends StoreOptions {
  readonly contracts: readonly string[]
}

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description('check store, configuration, contracts and clock, and say what to do')
    .option(
      '--contracts <file...>',
      'a module that exports tools (.js, .mjs), or contracts for ibid mcp (.json)',
      [],
    )
    .action(run)
  return withStore(command)
}

async function run(options: Options): Promise<void> {
  const diagnoses: Diagnosis[] = [checkConfiguration(options)]
  for (const file of options.contracts) diagnoses.push(await checkContracts(file))
  let failure: unknown
  try {
    await useStore(options, async ({ store }) => {
      diagnoses.push(await checkStore(store))
      diagnoses.push(await checkClock(store))
      diagnoses.push(await checkUndone(store))
    })
  } catch (error) {
    failure = error
  }
  const findings = diagnoses.flatMap(({ area, findings: found }) =>
    found.map((finding) => ({ area, ...finding, message: scrub(finding.message) })),
  )
  const isWell = failure === undefined && !findings.some(({ level }) => level === 'error')
  if (!isWell) process.exitCode = EXIT.findings
  const known = Object.fromEntries(diagnoses.map(({ area, facts: each }) => [area, each]))
  print(options.json, { json: { ok: isWell, findings, facts: known }, text: () => text(diagnoses, isWell) })
  // What could be checked has been told; that the store does not answer is the last word.
  if (failure !== undefined) fail(failure, options.json === true)
}

function text(diagnoses: readonly Diagnosis[], isWell: boolean): string {
  const parts = diagnoses.map(({ area, findings, facts: known }) => {
    const mark = findings.some(({ level }) => level === 'error')
      ? paint('error', 'red')
      : findings.length > 0
        ? paint('warning', 'yellow')
        : paint('ok', 'green')
    const details = facts(Object.entries(known).map(([name, value]) => [`  ${name}`, String(value)]))
    const found = findings.map(
      ({ level, code, message, remedy }) =>
        `  ${paint(level, level === 'error' ? 'red' : 'yellow')} ${code}: ${safe(scrub(message))}\n    ${paint('→', 'dim')} ${safe(remedy)}\n`,
    )
    return `${area}: ${mark}\n${details}${found.join('')}`
  })
  return `${parts.join('\n')}\n${isWell ? 'all is well enough to work' : paint('something needs doing', 'red')}\n`
}
