import { describe, expect, it } from 'vitest'
import { placeOf } from '../../src/key/place.js'

const letters = (count: number): string => 'n'.repeat(count)

describe('[R22] where something is', () => {
  it.each<[string, (string | number)[], string]>([
    ['at the top', [], 'payload'],
    ['a member of an item', ['items', 2, 'amount'], 'payload.items[2].amount'],
    ['a name that is no word', ['a b'], 'payload["a b"]'],
    ['sixty letters', [letters(60)], `payload.${letters(60)}`],
    ['sixty-one letters', [letters(61)], `payload["${letters(60)}…"]`],
    ['sixty characters with a space', [`${letters(58)} n`], `payload["${letters(58)} n"]`],
    ['a cut at the sixtieth', [`${letters(58)} ab`], `payload["${letters(58)} a…"]`],
  ])('%s', (_, trail, text) => {
    expect(placeOf(trail)).toBe(text)
  })

  it('two hundred characters are shown, of more the first and the last hundred', () => {
    const deep = Array.from({ length: 31 }, (_, i) => `n_${100 + i}`)
    const whole = `payload.${deep.join('.')}`
    expect(whole).toHaveLength(193)
    expect(placeOf([...deep, 'sixsix'])).toBe(`${whole}.sixsix`)
    const longer = `${whole}.sevense`
    expect(placeOf([...deep, 'sevense'])).toBe(`${longer.slice(0, 100)}…${longer.slice(-100)}`)
  })
})
