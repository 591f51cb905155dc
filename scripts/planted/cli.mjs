/** Defects in what the command line plans, keeps, deletes, finds and shows. */
import { inFolder } from './in-folder.mjs'

const at = inFolder('src', 'test')

export const cli = [
  ...at('plan/index.ts', 'plan/plan', [
    {
      name: 'the window is planned without the clocks',
      find: 'exact(callerSeconds + retrySeconds + networkSeconds + clockSeconds)',
      put: 'exact(callerSeconds + retrySeconds + networkSeconds)',
    },
    {
      name: 'the capacity is planned without its margin',
      find: 'exact((1 + margin) * perSecond * windowSeconds)',
      put: 'exact(perSecond * windowSeconds)',
    },
  ]),
  ...at('cli/archive/write.ts', 'cli/archive', [
    {
      name: 'an archive file is counted and not compared',
      tests: ['test/cli/archive.test.ts', 'test/cli/archive-delete.test.ts'],
      find: "if (found.digest('hex') !== digest) throw",
      put: "if (found.digest('hex') === '') throw",
    },
  ]),
  ...at('cli/archive.ts', 'cli/archive', [
    {
      name: 'what has ended stays out of the archive that is to delete it',
      tests: ['test/cli/archive-delete.test.ts'],
      find: 'options.delete ? now : -Infinity',
      put: '-Infinity',
    },
    {
      name: 'an archive run writes what the last one wrote',
      find: '(at >= from && at < upTo)',
      put: 'at < upTo',
    },
  ]),
  ...at('cli/store-option.ts', 'cli/output', [
    {
      name: "who comes from the server is not told where the server's receipts are",
      find: "from === 'default' && existsSync(own)",
      put: 'own === from',
    },
  ]),
  ...at('cli/keys.ts', 'cli/output', [
    {
      name: 'an IBID_STORE that is there and empty is taken for a store',
      find: "(process.env['IBID_STORE'] || ownStore())",
      put: "(process.env['IBID_STORE'] ?? ownStore())",
    },
  ]),
  ...at('cli/resolve.ts', 'cli/output', [
    {
      name: 'a value whose file is not there is told as JSON that is wrong',
      find: '  const text = textOf(given)\n  try {\n',
      put: '  try {\n    const text = textOf(given)\n',
    },
  ]),
  ...at('cli/values.ts', 'cli/output', [
    {
      name: 'help shows a month as a number of milliseconds',
      find: 'ms >= unitMs && ms % unitMs === 0',
      put: 'ms < 0 && unitMs < 0',
    },
  ]),
  ...at('guards/http/send-response.ts', 'cli/listen', [
    {
      name: 'of several cookies that an MCP server sets, the last one arrives',
      find: '[...response.headers].flat()',
      put: 'Object.fromEntries(response.headers)',
    },
  ]),
  ...at('cli/listen.ts', 'cli/listen', [
    {
      name: 'a gateway on an address of IPv6 does not know its own name',
      find: 'new URL(`http://${named}`).hostname',
      put: 'host',
    },
  ]),
  ...at('cli/scan/new-keys.ts', 'cli/scan', [
    {
      name: 'the same arguments are suspicious at any distance',
      find: '({ at }) => event.at - at <= withinMs',
      put: '() => true',
    },
  ]),
  ...at('cli/scan/windows.ts', 'cli/scan', [
    {
      name: 'a key that ran again after its window goes unseen',
      find: 'last.epoch !== epoch &&',
      put: 'last.epoch === epoch &&',
    },
  ]),
  ...at('engine/resolve.ts', 'engine/resolve', [
    {
      name: 'what was found out about one attempt resolves the next',
      find: 'epoch !== undefined && found.epoch !== epoch',
      put: 'epoch !== undefined && found.epoch < epoch',
    },
  ]),
  ...at('cli/held.ts', 'cli/receipts', [
    {
      name: 'what lapsed unseen is not listed as held',
      find: "findRow(condition, 'sweep', receipt.recovery)?.to === 'unknown'",
      put: 'receipt.at < 0',
    },
  ]),
  ...at('cli/secrets.ts', 'cli/output', [
    {
      name: 'a password that a client repeats is printed',
      find: "clean = clean.replaceAll(secret, '***')",
      put: 'clean = clean.replaceAll(secret, secret)',
    },
  ]),
  ...at('cli/secrets.ts', 'cli/output', [
    {
      name: 'a password with an @ in it is shown from there on',
      find: '/^[^:]+:\\/\\/(.*)@/s',
      put: '/^[^:]+:\\/\\/([^@]*)@/s',
    },
  ]),
  ...at('cli/print.ts', 'cli/output', [
    {
      name: 'a receipt that is like a password is told as something else',
      find: "scrubUrls } from './secrets.js'",
      put: "scrub as scrubUrls } from './secrets.js'",
    },
  ]),
  ...at('cli/serve.ts', 'cli/output', [
    {
      name: 'the server tells the password of its upstream',
      find: "shownUrl(settings.upstream ?? '')",
      put: 'settings.upstream',
    },
  ]),
  ...at('cli/mcp.ts', 'cli/output', [
    {
      name: 'the gateway opens its store before it has looked at its address',
      find: 'if (url !== undefined && !(URL',
      put: "if (url === '' && !(URL",
    },
  ]),
  ...at('cli/held.ts', 'cli/receipts', [
    {
      name: 'what was decided about a held receipt is taken for why it is held',
      find: 'event.epoch === epoch && HELD.includes(event.event)',
      put: 'event.epoch === epoch && event.why !== undefined',
    },
    {
      name: 'a lapsed attempt is told to be held for the reason of an earlier one',
      find: 'if (event.epoch < epoch) return undefined\n    if (event.epoch === epoch && HELD',
      put: 'if (HELD',
    },
  ]),
  ...at('cli/archive.ts', 'cli/archive', [
    {
      name: 'an archive from the beginning goes into the folder of another store',
      find: 'const last = lastEnd(await readManifests(options.to), url, tenant)',
      put: 'const last = options.all ? null : lastEnd(await readManifests(options.to), url, tenant)',
    },
  ]),
  ...at('cli/hammer/run.ts', 'hammer/command', [
    {
      name: 'the hammer looks at its report file when all is done',
      find: 'if (flags.junit !== undefined) mustBeWritable(flags.junit)',
      put: '',
    },
  ]),
  ...at('testing/black-box/check.ts', 'hammer/command', [
    {
      name: 'the hammer says that nothing is violated where nothing was tested',
      find: 'if (chosen.length > 0) return chosen',
      put: 'if (chosen.length >= 0) return chosen',
    },
  ]),
  ...at('testing/black-box/properties/cut-off.ts', 'hammer/planted', [
    {
      name: 'a call that nobody cut off is said to have stood it',
      find: "finding.verdict === 'held' && cut === 0",
      put: "finding.verdict === 'held' && cut < 0",
    },
  ]),
  ...at('testing/black-box/properties/fidelity.ts', 'hammer/planted', [
    {
      name: 'a second execution is taken for a faithful replay',
      find: 'count !== undefined && count > 1',
      put: 'count !== undefined && count > 2',
    },
  ]),
  ...at('cli/store-option.ts', 'cli/output', [
    {
      name: 'a command makes the store that it was to look at',
      find: 'file !== undefined && !existsSync(file)',
      put: 'file !== undefined && file === url',
    },
  ]),
]
