/** `ibid hammer http`: an endpoint, and what another caller would send. */
import { Command } from 'commander'
import { httpTarget } from '../../testing/index.js'
import { collect, type CommonFlags, payloadFlags, withCommonFlags } from './flags.js'
import { headersGiven, textGiven, urlGiven } from './given.js'
import { CONSENT, mustBeSafe } from './loopback.js'
import { run } from './run.js'
import { runCommand } from './shell.js'

interface HttpFlags extends CommonFlags {
  readonly url: string
  readonly method: string
  readonly header: readonly string[]
  readonly otherHeader?: readonly string[]
  readonly keyHeader: string
  readonly body?: string
  readonly otherBody?: string
  readonly failingBody?: string
  readonly slowBody?: string
  readonly restart?: string
  readonly yesThisIsATestSystem?: true
}

export function httpCommand(): Command {
  const command = new Command('http')
    .description('an HTTP endpoint')
    .requiredOption('--url <address>', 'the endpoint')
    .option('--method <name>', 'its method', 'POST')
    .option('--header <name=value>', 'sent with every call; may be repeated', collect, [])
    .option('--key-header <name>', 'the header that takes the key', 'Idempotency-Key')
    .option(
      '--other-header <name=value>',
      'what another caller sends instead, such as its authorization',
      collect,
    )
    .option('--restart <command>', 'kills the server and starts it again')
    .option(CONSENT, 'may be used on an address that is not this machine')
  return withCommonFlags(payloadFlags(command, 'body', 'JSON, text, or @file')).action(
    async (flags: HttpFlags) => {
      const url = urlGiven('--url', flags.url)
      mustBeSafe(url, flags.yesThisIsATestSystem === true)
      const { restart, otherHeader } = flags
      const target = httpTarget({
        url,
        method: flags.method.toUpperCase(),
        headers: headersGiven('--header', flags.header),
        keyHeader: flags.keyHeader,
        answerMs: flags.answer,
        ...(otherHeader && { otherHeaders: headersGiven('--other-header', otherHeader) }),
        ...(restart && { restart: async () => void (await runCommand('--restart', restart, false)) }),
      })
      const payloads = {
        payload: textGiven('--body', flags.body),
        otherPayload: textGiven('--other-body', flags.otherBody),
        failingPayload: textGiven('--failing-body', flags.failingBody),
        slowPayload: textGiven('--slow-body', flags.slowBody),
      }
      const { name, payloadName } = target
      await run(flags, { open: async () => target, name, payloadName, payloads, restart })
    },
  )
}
