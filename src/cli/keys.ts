/** `ibid keys create | list | revoke`: who may use the server. A secret is shown when it is made, and never again. */
import { Command } from 'commander'
import { createIbid, type Ibid } from '../index.js'
import { createKey, EVERY_TENANT, listKeys, OWN_TENANT, revokeKey, RIGHTS } from '../server/api-keys.js'
import { openStore } from '../stores/open.js'
import { ownStore } from './own-store.js'
import { print } from './print.js'
import { type Column, table } from './table.js'

type KeyLine = Awaited<ReturnType<typeof listKeys>>[number]

interface Common {
  readonly store?: string
  readonly json?: true
}

export function keysCommand(): Command {
  const keys = new Command('keys').description('API keys of the server: make, list and revoke them')
  common(keys.command('create'))
    .description('make a key, and show it this once')
    .requiredOption('--tenant <name>', `whose receipts it is for; '${EVERY_TENANT}' for every tenant`)
    .option('--rights <list>', `any of ${RIGHTS.join(', ')}, with commas`, 'read,write')
    .option('--note <text>', 'what it is for', '')
    .action(async (options: Common & { tenant: string; rights: string; note: string }) => {
      const { tenant, note } = options
      const rights = options.rights.split(',').map((right) => right.trim())
      const made = await using(options, async (ibid) => await createKey(ibid, { tenant, rights, note }))
      process.stdout.write(
        options.json ? `${JSON.stringify({ ...made, tenant, rights })}\n` : `${made.key}\n`,
      )
    })
  common(keys.command('list'))
    .description('show the keys, without their secrets')
    .action(async (options: Common) => {
      const lines = await using(options, listKeys)
      print(options.json, {
        json: { keys: lines },
        text: () => (lines.length === 0 ? 'there are no keys\n' : table(lines, COLUMNS)),
      })
    })
  common(keys.command('revoke'))
    .description('make a key worthless; every server on this store knows within two seconds')
    .argument('<id>', 'from ibid keys list, or the middle part of the key')
    .option('--why <text>', 'goes on record', '')
    .action(async (id: string, options: Common & { why: string }) => {
      await using(options, async (ibid) => await revokeKey(ibid, id, options.why))
      process.stdout.write(options.json ? `${JSON.stringify({ revoked: id })}\n` : `${id} is revoked\n`)
    })
  return keys
}

function common(command: Command): Command {
  return command
    .option('--store <url>', 'where receipts are kept (default: $IBID_STORE, or sqlite in ~/.ibid)')
    .option('--json', 'for machines')
}

async function using<T>({ store }: Common, work: (ibid: Ibid) => Promise<T>): Promise<T> {
  const ibid = createIbid({
    store: openStore(store ?? (process.env['IBID_STORE'] || ownStore())),
    tenant: OWN_TENANT,
    housekeeping: false,
  })
  try {
    return await work(ibid)
  } finally {
    await ibid.close()
  }
}

const COLUMNS: readonly Column<KeyLine>[] = [
  { title: 'id', cell: ({ id }) => id },
  { title: 'tenant', cell: ({ tenant }) => tenant },
  { title: 'rights', cell: ({ rights }) => rights.join(',') },
  { title: 'made', cell: ({ createdAt }) => new Date(createdAt).toISOString().slice(0, 16) },
  { title: 'state', cell: ({ revokedAt }) => (revokedAt === undefined ? 'good' : 'revoked') },
  { title: 'note', cell: ({ note }) => note },
]
