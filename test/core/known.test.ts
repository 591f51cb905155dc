import { expect, it } from 'vitest'
import { onlyKnown } from '../../src/core/known.js'
import { refusal } from '../key/refusal.js'

it.each([undefined, null, {}, { window: 1 }, { window: undefined, wait: 2 }])(
  '%o has only known options',
  (given) => {
    expect(() => onlyKnown(given, ['window', 'wait'], 'a policy')).not.toThrow()
  },
)

it('one that is misspelt is refused by its name, with those that there are', () => {
  const error = refusal(() => onlyKnown({ wait: 1, windw: 2 }, ['window', 'wait'], 'a policy'))
  expect(error.message).toContain('windw is not an option of a policy')
  expect(error.action).toBe('use one of window, wait')
})
