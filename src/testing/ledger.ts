/**
 * The ledger of effects: what really happened, written apart from the store under test. A line per effect, each
 * one O_APPEND write and an fsync, so that it holds over processes and over a SIGKILL right behind it.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

export interface LedgerLine {
  readonly key: string
  readonly pid: number
  readonly data?: unknown
}

export interface Ledger {
  readonly file: string
  /** Returns when the line is on disk. */
  append(key: string, data?: unknown): void
  /** How often the effect of `key` happened. */
  count(key: string): number
  all(): readonly LedgerLine[]
}

export function ledger(file: string): Ledger {
  function all(): readonly LedgerLine[] {
    if (!existsSync(file)) return []
    // What stands behind the last line break was cut off while it was written, or is being written right now.
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line) as LedgerLine)
  }
  return {
    file,
    append(key, data) {
      const fd = openSync(file, 'a')
      try {
        writeSync(fd, `${JSON.stringify({ key, pid: process.pid, data })}\n`)
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
    },
    count: (key) => all().filter((line) => line.key === key).length,
    all,
  }
}
