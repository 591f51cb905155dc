/** Starts child.mjs and reads the JSON lines that it writes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { tally } from '../../src/testing/tally.js'

const SCRIPT = fileURLToPath(new URL('./child.mjs', import.meta.url))

export interface Started {
  readonly process: ChildProcess
  readonly lines: Record<string, unknown>[]
  /** Resolves with the exit code; null where a signal ended it. */
  readonly ended: Promise<number | null>
}

export function start(mode: string, file: string, options: Record<string, unknown> = {}): Started {
  const child = spawn(process.execPath, [SCRIPT, mode, file, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  tally({ processes: 1 })
  const lines: Record<string, unknown>[] = []
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => lines.push(JSON.parse(line) as Record<string, unknown>))
  const ended = Promise.all([once(child, 'exit'), once(reader, 'close')]).then(
    ([[code]]) => code as number | null,
  )
  return { process: child, lines, ended }
}

export async function run(
  mode: string,
  file: string,
  options: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { lines, ended } = start(mode, file, options)
  const code = await ended
  return { ...lines.at(-1), code: lines.at(-1)?.['code'] ?? code }
}
