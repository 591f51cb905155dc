/** What an archive file can be: written row by row, and read back row by row to be compared with what was meant. */
import type { ArchivedReceipt } from './row.js'

export interface Format {
  readonly extension: string
  create(path: string): Promise<RowWriter>
  read(path: string): AsyncIterable<ArchivedReceipt>
}

export interface RowWriter {
  write(row: ArchivedReceipt): Promise<void>
  /** On disk for good when it returns. */
  finish(): Promise<void>
}
