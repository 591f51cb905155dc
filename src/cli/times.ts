/** Instants and durations as people read them. Instants are of the store's clock, in UTC. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

export function instant(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z')
}

/** The two largest units: 3 d 4 h, 2 min 5 s, 12 s, 340 ms. */
export function duration(ms: number): string {
  const rounded = Math.round(Math.abs(ms))
  const first = UNITS.findIndex(([, unit]) => rounded >= unit)
  if (first === -1) return `${rounded} ms`
  const [name, unit] = UNITS[first] as (typeof UNITS)[number]
  const count = Math.floor(rounded / unit)
  const next = UNITS[first + 1]
  const rest = next === undefined ? 0 : Math.floor((rounded - count * unit) / next[1])
  return next === undefined || rest === 0 ? `${count} ${name}` : `${count} ${name} ${rest} ${next[0]}`
}

export function since(ms: number, now: number): string {
  return ms <= now ? `${duration(now - ms)} ago` : `in ${duration(ms - now)}`
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** 1 receipt, 12 960 receipts. */
export function counted(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? '' : 's'}`
}

/** 12 960: groups parted by a space, which every terminal has and no locale takes for a decimal mark. */
export function count(value: number): string {
  return whole.format(value).replaceAll(',', ' ')
}
