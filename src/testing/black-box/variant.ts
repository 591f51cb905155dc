/**
 * Another payload, made of the given one by changing one value: the first number, or the first text. Undefined where
 * there is nothing to change, or where it is no JSON.
 */
export function variantOf(payload: unknown): unknown {
  if (typeof payload !== 'string') return changed(payload)
  try {
    const value = changed(JSON.parse(payload))
    return value === undefined ? undefined : JSON.stringify(value)
  } catch {
    return undefined
  }
}

function changed(value: unknown): unknown {
  return changeFirst(value, (leaf) => (typeof leaf === 'number' ? leaf + 1 : undefined)) ?? changeText(value)
}

function changeText(value: unknown): unknown {
  return changeFirst(value, (leaf) => (typeof leaf === 'string' ? `${leaf}-2` : undefined))
}

/** Undefined: nothing in it changes. */
function changeFirst(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return change(value)
  for (const [name, part] of Object.entries(value)) {
    const other = changeFirst(part, change)
    if (other === undefined) continue
    if (!Array.isArray(value)) return { ...value, [name]: other }
    return value.map((item: unknown, at) => (String(at) === name ? other : item))
  }
  return undefined
}
