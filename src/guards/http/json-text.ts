/**
 * What a handler kept with its refusal, or a person with a resolution, as JSON. It may be anything that a receipt can
 * keep, and more: whatever has no JSON must not take the answer with it. Undefined: it has none.
 */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, asText)
  } catch {
    return undefined
  }
}

function asText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
