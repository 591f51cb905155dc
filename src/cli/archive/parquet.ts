/**
 * Parquet, by hyparquet-writer, an optional peer that is loaded when it is asked for. Rows go out in groups of bounded
 * size, so that an archive of any length fits in memory.
 */
import { open } from 'node:fs/promises'
import { IbidError } from '../../core/errors.js'
import type { Format } from './format.js'
import { flush } from './ndjson.js'
import type { ArchivedReceipt } from './row.js'

const GROUP = { rows: 10_000, characters: 32 * 1024 * 1024 }

type Field = keyof ArchivedReceipt
type Kind = 'STRING' | 'INT64' | 'INT32' | 'TIMESTAMP'

const COLUMNS: Readonly<Record<Field, Kind>> = {
  tenant: 'STRING',
  scope: 'STRING',
  key: 'STRING',
  epoch: 'INT64',
  state: 'STRING',
  attempt: 'INT32',
  recovery: 'STRING',
  fingerprint: 'STRING',
  created_at: 'TIMESTAMP',
  settled_at: 'TIMESTAMP',
  ends_at: 'TIMESTAMP',
  window_ms: 'INT64',
  outcome: 'STRING',
}
const FIELDS = Object.keys(COLUMNS) as readonly Field[]

interface Column {
  readonly name: string
  readonly data: unknown[]
  readonly type: Kind
  readonly nullable: boolean
}

/** The part of the two packages that is used here. */
interface Writing {
  fileWriter(path: string): object
  schemaFromColumnData(options: { columnData: readonly Column[] }): object[]
  ParquetWriter: new (options: { writer: object; schema: object[] }) => {
    write(options: { columnData: readonly Column[]; rowGroupSize: number }): void | Promise<void>
    finish(): void | Promise<void>
  }
}
interface Reading {
  asyncBufferFromFile(path: string): Promise<object>
  parquetMetadataAsync(file: object): Promise<{ readonly num_rows: bigint }>
  parquetReadObjects(options: {
    file: object
    metadata: object
    rowStart: number
    rowEnd: number
  }): Promise<readonly Record<Field, unknown>[]>
}

export async function loadParquet(): Promise<Format> {
  const writing = (await load('hyparquet-writer')) as Writing
  const reading = (await load('hyparquet')) as Reading
  return {
    extension: 'parquet',
    create: (path) => create(writing, path),
    read: (path) => read(reading, path),
  }
}

async function load(name: string): Promise<unknown> {
  try {
    return await import(name)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new IbidError(
      `--format parquet needs the package ${name}, which is not installed; nothing was written`,
      {
        code: 'INVALID_ARGUMENTS',
        retriable: false,
        action: 'run: npm install hyparquet-writer hyparquet, or take --format ndjson',
      },
    )
  }
}

async function create({ ParquetWriter, fileWriter, schemaFromColumnData }: Writing, path: string) {
  // The writer opens the file by itself, and would let everybody read it.
  await (await open(path, 'wx', 0o600)).close()
  const schema = schemaFromColumnData({ columnData: columnsOf([]) })
  const parquet = new ParquetWriter({ writer: fileWriter(path), schema })
  let rows: ArchivedReceipt[] = []
  let characters = 0

  async function writeGroup(): Promise<void> {
    if (rows.length > 0) await parquet.write({ columnData: columnsOf(rows), rowGroupSize: rows.length })
    rows = []
    characters = 0
  }

  return {
    async write(row: ArchivedReceipt) {
      rows.push(row)
      characters += row.outcome?.length ?? 0
      if (rows.length >= GROUP.rows || characters >= GROUP.characters) await writeGroup()
    },
    async finish() {
      await writeGroup()
      await parquet.finish()
      await flush(path)
    },
  }
}

function columnsOf(rows: readonly ArchivedReceipt[]): readonly Column[] {
  return FIELDS.map((name) => {
    const type = COLUMNS[name]
    const nullable = name === 'ends_at' || name === 'outcome'
    return { name, type, nullable, data: rows.map((row) => toCell(row[name], type)) }
  })
}

function toCell(value: string | number | null, type: Kind): unknown {
  if (value === null) return null
  if (type === 'INT64') return BigInt(value)
  return type === 'TIMESTAMP' ? new Date(value) : value
}

async function* read(
  { asyncBufferFromFile, ...reading }: Reading,
  path: string,
): AsyncGenerator<ArchivedReceipt> {
  const file = await asyncBufferFromFile(path)
  const metadata = await reading.parquetMetadataAsync(file)
  const count = Number(metadata.num_rows)
  for (let rowStart = 0; rowStart < count; rowStart += GROUP.rows) {
    const rowEnd = Math.min(count, rowStart + GROUP.rows)
    for (const row of await reading.parquetReadObjects({ file, metadata, rowStart, rowEnd })) yield toRow(row)
  }
}

function toRow(row: Record<Field, unknown>): ArchivedReceipt {
  const cells = FIELDS.map((name) => [name, fromCell(row[name])])
  return Object.fromEntries(cells) as ArchivedReceipt
}

function fromCell(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  return value instanceof Date ? value.toISOString() : (value ?? null)
}
