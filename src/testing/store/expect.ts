/**
 * Assertions that say what is expected of a store, and then how this one differs. `node:assert` drops its
 * comparison when it is given a message; here both are kept.
 */
import assert from 'node:assert/strict'

export function same(actual: unknown, expected: unknown, duty: string): void {
  try {
    assert.deepEqual(tidy(actual), tidy(expected))
  } catch (error) {
    const details = error instanceof Error ? error.message : String(error)
    throw new assert.AssertionError({ message: `${duty}\n${details}`, actual, expected, operator: 'same' })
  }
}

export function holds(condition: boolean, duty: string): asserts condition {
  assert.ok(condition, duty)
}

export function must<T>(value: T | undefined, duty: string): T {
  assert.ok(value !== undefined, duty)
  return value
}

export async function refused(call: Promise<unknown>, duty: string): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  throw new assert.AssertionError({ message: duty, operator: 'refused' })
}

/** A member that is undefined and one that is absent are the same; so are objects with and without a prototype. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, tidy(member)]))
}
