/** The vendors' libraries are optional: one that is missing is named, and asked for again with the next delivery. */
import { expect, test } from 'vitest'
import { library } from '../../src/guards/webhook/library.js'

test('a library that is not there is named, with what to do, and looked for again', async () => {
  let tries = 0
  const load = library('left-pad', () =>
    ++tries === 1 ? Promise.reject(new Error('no such package')) : Promise.resolve(7),
  )
  await expect(load()).rejects.toMatchObject({
    code: 'LIBRARY_MISSING',
    retriable: true,
    action: 'npm install left-pad',
  })
  expect(await load()).toBe(7)
  expect(await load()).toBe(7)
  expect(tries).toBe(2)
})
