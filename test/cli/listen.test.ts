/** A handler on a port: what it answers arrives as it was, under every name that is meant. */
import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../src/cli/listen.js'

async function served(host: string): Promise<string> {
  const { url, close } = await listen(
    async () => {
      const headers = new Headers([
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ])
      return new Response('ok', { headers })
    },
    { host, port: 0 },
  )
  onTestFinished(close)
  return url
}

test('every cookie that is set arrives', async () => {
  const { headers } = await fetch(await served('127.0.0.1'))
  expect(headers.getSetCookie()).toEqual(['a=1', 'b=2'])
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'))

// Where a machine has no IPv6 this is about the usual address.
test('an address of IPv6 is known by its name', async () => {
  expect((await fetch(await served(hasIpv6 ? '::' : '127.0.0.1'))).status).toBe(200)
})
