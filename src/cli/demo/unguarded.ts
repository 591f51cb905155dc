/** What people write first: on a time-out try again, each time as something new. */
import { randomUUID } from 'node:crypto'

const TRIES = 3

export async function insist<T>(attempt: (reference: string) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt(randomUUID())
    } catch (error) {
      if (tried === TRIES) throw error
    }
  }
}
