/**
 * Counts over time, as a chart needs them: every step there, also the empty ones, and few enough to be told
 * apart.
 */
import type { Step, Steps } from './shapes.js'

export interface OverTime {
  /** Seconds since 1970, at the beginning of each step. */
  readonly at: readonly number[]
  readonly originals: readonly number[]
  readonly duplicates: readonly number[]
  /** Percent; null where nothing came. */
  readonly hitRate: readonly (number | null)[]
}

/** `stepMs` is a multiple of the server's own. `layer` empty: all of them. */
export function overTime(
  { steps }: Steps,
  stepMs: number,
  length: number,
  nowMs: number,
  layer: string,
): OverTime {
  const first = Math.floor(nowMs / stepMs) - length + 1
  const originals = Array.from({ length }, () => 0)
  const duplicates = Array.from({ length }, () => 0)
  for (const step of steps) {
    const at = Math.floor(step.at / stepMs) - first
    if (at < 0 || at >= length) continue
    const sum = sumOf(step, layer)
    originals[at] = (originals[at] ?? 0) + sum.originals
    duplicates[at] = (duplicates[at] ?? 0) + sum.duplicates
  }
  return {
    at: originals.map((_, at) => ((first + at) * stepMs) / 1_000),
    originals,
    duplicates,
    hitRate: originals.map((count, at) => {
      const all = count + (duplicates[at] ?? 0)
      return all === 0 ? null : ((duplicates[at] ?? 0) / all) * 100
    }),
  }
}

function sumOf({ layers }: Step, layer: string): { readonly originals: number; readonly duplicates: number } {
  let [originals, duplicates] = [0, 0]
  for (const [name, counts] of Object.entries(layers)) {
    if (layer !== '' && name !== layer) continue
    originals += counts.originals
    duplicates += counts.duplicates
  }
  return { originals, duplicates }
}
