/** Where a key is in a cluster: what a server says of these keys, asked with CLUSTER KEYSLOT. */
import { expect, it } from 'vitest'
import { slotOf } from '../../src/stores/redis/slot.js'

it.each([
  ['', 0],
  ['123456789', 12_739],
  ['foo', 12_182],
  ['bar', 5_061],
  ['ä', 13_929],
  ['foo{bar}', 5_061],
  ['{bar}foo', 5_061],
  ['foo{bar}{zap}', 5_061],
  ['foo{{bar}}zap', 4_015],
  ['foo{}{bar}', 8_363],
  ['foo{bar', 15_278],
  ['foo}bar{', 11_073],
])('%j is in slot %i', (key, slot) => {
  expect(slotOf(key)).toBe(slot)
})
