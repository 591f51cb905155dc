/**
 * LISTEN over `pg`: one connection, opened again when it breaks, later each time it fails. What is notified while
 * it is down is lost: only hints travel here.
 */
import type { PgSource } from './driver-pg.js'
import { quoteName } from './schema.js'
import type { PgClient } from './shapes.js'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

export function listenOn(
  source: PgSource,
  connect: () => Promise<PgClient>,
  channel: string,
  hear: (payload: string) => void,
): () => void {
  let stopped = false
  let pauseMs = FIRST_PAUSE_MS
  let client: PgClient | undefined
  let timer: NodeJS.Timeout | undefined

  function onNotification({ payload }: { readonly payload?: string }): void {
    if (payload !== undefined) hear(payload)
  }

  function drop(): void {
    const dropped = client
    client = undefined
    dropped?.removeListener('notification', onNotification)
    dropped?.release(true)
  }

  function again(): void {
    clearTimeout(timer)
    drop()
    if (stopped) return
    timer = setTimeout(() => void open(), pauseMs)
    timer.unref()
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }

  async function open(): Promise<void> {
    let opened: PgClient | undefined
    // A connection that breaks says so as an event, and to whoever waits for its answer: only the first counts.
    const onBroken = (): void => {
      if (client === opened) again()
    }
    try {
      opened = await connect()
      if (stopped) return opened.release()
      client = opened
      opened.on('error', onBroken)
      opened.on('end', onBroken)
      opened.on('notification', onNotification)
      await opened.query({ text: `listen ${quoteName(channel)}`, query_timeout: source.answerMs })
      pauseMs = FIRST_PAUSE_MS
      // Nothing is waited for on it that should keep a program from ending.
      if (client === opened) opened.unref?.()
    } catch (error) {
      source.failed(error)
      onBroken()
    }
  }

  void open()
  return () => {
    stopped = true
    clearTimeout(timer)
    drop()
  }
}
