/** The one moment at which a server begins to stop: who waits is sent home, and nothing new begins to wait. */
export interface Stopping {
  readonly isStopping: boolean
  /** Calls `tell` when the stop begins, or at once if it has; returns how to forget about it. */
  onStop(tell: () => void): () => void
  begin(): void
}

export function createStopping(): Stopping {
  const waiting = new Set<() => void>()
  let isStopping = false
  return {
    get isStopping() {
      return isStopping
    },
    onStop(tell) {
      if (isStopping) tell()
      else waiting.add(tell)
      return () => waiting.delete(tell)
    },
    begin() {
      isStopping = true
      for (const tell of waiting) tell()
      waiting.clear()
    },
  }
}
