import { expect, it, onTestFinished } from 'vitest'
import { quietly } from '../../src/core/quietly.js'

const heard: unknown[] = []
const oops = (): never => {
  throw new TypeError('theirs')
}

it.each<[string, () => unknown]>([
  ['says nothing', () => undefined],
  ['throws', oops],
  ['rejects later', async () => oops()],
])('a log that %s is told, and that is all', async (_, log) => {
  const unhandled: unknown[] = []
  const listen = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', listen)
  onTestFinished(() => void process.off('unhandledRejection', listen))
  quietly(() => {
    heard.push(log)
    return log()
  })
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  expect(heard).toContain(log)
  expect(unhandled).toEqual([])
})
