/**
 * `ibid mcp`: the gateway in front of an MCP server. With a command it speaks stdio on both sides; with --url it
 * listens and forwards. On stdio the standard output belongs to the protocol: whatever else there is to say goes
 * to stderr.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Command } from 'commander'
import { type GuardOptions, httpGateway, type McpContract, stdioGateway } from '../adapters/mcp.js'
import { invalidIntent } from '../core/errors.js'
import { readContracts } from '../guards/broker/index.js'
import { createIbid, type Ibid } from '../index.js'
import { openStore } from '../stores/open.js'
import { listen } from './listen.js'
import { ownStore } from './own-store.js'
import { shownUrl } from './secrets.js'
import { wholeNumber } from './values.js'

interface Options {
  readonly store?: string
  readonly tenant: string
  readonly name?: string
  readonly principal?: string
  readonly contracts?: string
  readonly annotations: boolean
  readonly url?: string
  readonly host: string
  readonly port: number
  readonly allowHost: readonly string[]
  readonly json?: true
}

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('stand in front of an MCP server, so that what its tools write is written once')
    .usage('[options] -- command args…   |   [options] --url <address>')
    .argument('[command...]', 'the MCP server to start, over stdio')
    .option('--store <url>', 'where receipts are kept (default: $IBID_STORE, or sqlite in ~/.ibid)')
    .option('--tenant <name>', 'whose receipts they are', 'local')
    .option(
      '--name <server>',
      'the name of the server in its receipts; choose it once (default: made of the command)',
    )
    .option('--principal <name>', 'on whose behalf calls without a key are made')
    .option('--contracts <file>', 'contracts of its tools, as JSON or YAML')
    .option('--no-annotations', 'do not believe what the tools say of themselves')
    .option('--url <address>', 'the MCP server to forward to, over HTTP')
    .option('--host <host>', 'where to listen, with --url', '127.0.0.1')
    .option('--port <port>', 'where to listen, with --url', wholeNumber('--port', 0, 65_535), 7879)
    .option('--allow-host <name...>', 'a name that clients may use for this host, besides localhost', [])
    .option('--json', 'say what there is to say as JSON')
    .action(async (command: readonly string[], options: Options) => await run(command, options))
}

async function run(command: readonly string[], options: Options): Promise<void> {
  const { url, tenant, principal } = options
  const [program, ...args] = command
  if ((program === undefined) === (url === undefined)) {
    throw invalidIntent(
      url === undefined ? 'there is no MCP server to stand in front of' : '--url does not go with a command',
      'write ibid mcp -- command args…, or ibid mcp --url address',
    )
  }
  if (url !== undefined && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    throw invalidIntent('--url is no http or https address', 'give --url http://127.0.0.1:3000/mcp')
  const contracts = readContractFile(options.contracts)
  const ibid = createIbid({
    store: openStore(options.store ?? (process.env['IBID_STORE'] || ownStore())),
    tenant,
  })
  const stop = stopSignal()
  try {
    const guard: GuardOptions = {
      ibid,
      tenant,
      server: options.name ?? nameOf(url ?? command.join('\0'), program ?? new URL(url as string).host),
      contracts,
      annotations: options.annotations ? 'use' : 'ignore',
    }
    if (program !== undefined) {
      const who = principal === undefined ? {} : { principal }
      process.exitCode = await stdioGateway({ ...guard, ...who, command: [program, ...args], signal: stop })
    } else await serve(guard, options, stop)
  } finally {
    await close(ibid)
  }
}

async function serve(guard: GuardOptions, options: Options, stop: AbortSignal): Promise<void> {
  const { url: upstream = '', principal, host, port, allowHost } = options
  const who = principal === undefined ? {} : { principal: () => principal }
  const { url, close: stopListening } = await listen(httpGateway({ ...guard, ...who, upstream }), {
    host,
    port,
    allowedHosts: allowHost,
  })
  const shown = shownUrl(upstream)
  process.stderr.write(
    options.json ? `${JSON.stringify({ url, upstream: shown })}\n` : `ibid: ${url} → ${shown}\n`,
  )
  await new Promise((resolve) => stop.addEventListener('abort', resolve))
  await stopListening()
}

/** Nothing keeps the process but what it was asked to do. */
async function close(ibid: Ibid): Promise<void> {
  await ibid.close()
  process.stdin.unref?.()
}

/**
 * Readable, and not the same for two servers that are started by one program. No argument shows: some are
 * secrets.
 */
function nameOf(whole: string, shown: string): string {
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 8)
  return `${basename(shown).slice(0, 40)}-${digest}`
}

function readContractFile(file: string | undefined): readonly McpContract[] {
  if (file === undefined) return []
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw invalidIntent(
      `--contracts names ${file}, which cannot be read: ${(error as Error).message}`,
      'give --contracts a file of JSON or YAML',
    )
  }
  return readContracts(text)
}

/** The first signal asks; whoever cannot wait sends SIGKILL, and the lease lapses. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => controller.abort())
  return controller.signal
}
