/**
 * A client that goes away while its claim is on the way to the store: nothing was sent yet, so nothing is left
 * behind.
 */
import { expect, onTestFinished, test } from 'vitest'
import { call, fresh, send } from '../http/client.js'
import { type Framework, startSite } from '../http/site.js'

test('[R9] [R61] a client gone before its write was passed on leaves a key that is good', async () => {
  const site = await startSite('proxy' as Framework, 'sqlite')
  onTestFinished(() => site.close())
  const { key, mark } = fresh()
  const ask = { key, path: `/act?mark=${mark}` }
  const others = async (): Promise<unknown> => await call(site.port, { path: '/act' })
  site.put('slow')
  const first = send(site.port, ask)
  first.on('error', () => {})
  await new Promise((resolve) => first.once('finish', resolve))
  await others()
  first.destroy()
  await others()
  site.remove('slow')
  expect(await call(site.port, ask)).toMatchObject({ status: 201 })
  expect(await call(site.port, ask)).toMatchObject({ status: 201, replayed: true })
  expect(site.effects(mark)).toBe(1)
})
