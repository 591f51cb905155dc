/** An answer that goes on for as long as its client likes goes on no longer than the key that it was given to. */
import type { ServerResponse } from 'node:http'

const EVERY_MS = 500

export function endWithKey(
  outgoing: ServerResponse,
  isStillGood: () => Promise<boolean>,
  end: () => void,
): void {
  async function look(): Promise<void> {
    // A store that does not answer says nothing about the key.
    const isGood = await isStillGood().catch(() => true)
    if (!isGood && !outgoing.writableEnded && !outgoing.destroyed) end()
  }
  const watch = setInterval(() => void look(), EVERY_MS)
  outgoing.on('close', () => clearInterval(watch))
}
