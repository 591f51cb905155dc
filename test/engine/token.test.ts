import { expect, test } from 'vitest'
import { newToken } from '../../src/engine/token.js'

test('[R8] tokens are 22 characters from the first on, and no two are the same, however many are asked for', () => {
  const tokens = Array.from({ length: 2_000 }, newToken)
  for (const token of tokens) expect(token).toMatch(/^[\w-]{22}$/)
  expect(new Set(tokens).size).toBe(tokens.length)
})

test('[R8] no part of a token is that of another', () => {
  const bytes = Array.from({ length: 600 }, () => Buffer.from(newToken(), 'base64url'))
  const halves = bytes.flatMap((token) => [token.readBigUInt64BE(0), token.readBigUInt64BE(8)])
  expect(new Set(halves).size).toBe(1_200)
})
