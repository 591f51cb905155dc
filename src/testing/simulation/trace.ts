/** What happened in a simulated world, line by line, and one number that two runs share only if every line is equal. */

export interface Trace {
  add(line: string): void
  /** Kept only where they were asked for. */
  readonly lines: readonly string[]
  digest(): string
}

export function createTrace(nowMs: () => number, keeps: boolean): Trace {
  const lines: string[] = []
  let high = 0x811c9dc5
  let low = 0xc9dc5118

  return {
    lines,
    add(line) {
      const stamped = `${nowMs().toFixed(3).padStart(10)}  ${line}`
      // Two rounds of FNV-1a over the same text, from two starting points.
      for (let at = 0; at < stamped.length; at++) {
        const code = stamped.charCodeAt(at)
        high = Math.imul(high ^ code, 0x01000193)
        low = Math.imul(low ^ code, 0x01000197)
      }
      if (keeps) lines.push(stamped)
    },
    digest: () => [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join(''),
  }
}
