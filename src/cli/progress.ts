/** Progress of long work, on stderr and only on a terminal: a pipe, a log or --json never sees it. */
export interface Progress {
  /** Shows `text`; at most a few times a second, so that it costs nothing. */
  say(text: () => string): void
  /** Takes it away. */
  end(): void
}

const EVERY_MS = 100
const ERASE = '\r\u001b[K'

export function startProgress(quiet: boolean): Progress {
  if (quiet || !process.stderr.isTTY) return { say: () => undefined, end: () => undefined }
  let last = 0
  return {
    say(text) {
      const now = Date.now()
      if (now - last < EVERY_MS) return
      last = now
      process.stderr.write(`${ERASE}${text()}`)
    },
    end() {
      process.stderr.write(ERASE)
    },
  }
}
