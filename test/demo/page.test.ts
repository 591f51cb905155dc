/** `ibid demo --serve`: the page is there before the storm, shows its receipts, and stays until somebody stops it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { bin, folder } from '../cli/command.js'

test('the storm can be watched on the page, and looked at afterwards', { timeout: 180_000 }, async () => {
  const args = [bin, 'demo', '--seed', '8', '--refunds', '10', '--guarded', '--serve']
  const env = { ...process.env, TMPDIR: folder(), IBID_PORT: '0', NO_COLOR: '1' }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const ended = once(child, 'exit')
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => (text += more))
  async function said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(text)
      if (found) return found
      expect(child.exitCode, text).toBeNull()
      await sleep(50)
    }
  }

  const [, url = '', key = ''] = await said(/^Live: (http:\S+?)\/#key=(\S+)$/m)
  expect(text).not.toContain('duplicate refunds')
  expect((await fetch(url)).headers.get('content-type')).toContain('text/html')

  await said(/^duplicate refunds +0$/m)
  await said(/until you press Ctrl-C/)
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/v1/receipts?limit=1000`, { headers })
  const { receipts } = (await answer.json()) as { receipts: readonly { scope: string; tenant: string }[] }
  const scopes = new Set(
    receipts.filter(({ tenant }) => tenant.startsWith('harbor-8-')).map(({ scope }) => scope.split(':')[0]),
  )
  expect([...scopes]).toEqual(expect.arrayContaining(['hook', 'queue', 'run', 'step', 'tool']))

  child.kill('SIGINT')
  expect(await ended).toEqual([0, null])
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})
