/** `ibid keys create | list | revoke`: who may use the server. A secret is shown when it is made, and never again. */
import { Command } from 'commander'
import { createIbid, type Ibid } from '../index.js'
import { createKey, EVERY_TENANT, listKeys, OWN_TENANT, revokeKey, RIGHTS } from '../server/api-keys.js'
import { openStore } from '../stores/open.js'
import { ownStore } from './own-store.js'

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
      if (options.json) process.stdout.write(`${JSON.stringify({ keys: lines })}\n`)
      else for (const line of table(lines)) process.stdout.write(`${line}\n`)
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
    store: openStore(store ?? process.env['IBID_STORE'] ?? ownStore()),
    tenant: OWN_TENANT,
    housekeeping: false,
  })
  try {
    return await work(ibid)
  } finally {
    await ibid.close()
  }
}

function table(lines: Awaited<ReturnType<typeof listKeys>>): readonly string[] {
  if (lines.length === 0) return ['there are no keys']
  const rows = lines.map((line) => [
    line.id,
    line.tenant,
    line.rights.join(','),
    new Date(line.createdAt).toISOString().slice(0, 16),
    line.revokedAt === undefined ? 'good' : 'revoked',
    line.note,
  ])
  const all = [['id', 'tenant', 'rights', 'made', 'state', 'note'], ...rows]
  const widths = all[0]?.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length))) ?? []
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
