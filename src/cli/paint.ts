/** Colour, only on a terminal that wants it: NO_COLOR and TERM=dumb switch it off, FORCE_COLOR on. */
const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const
export type Colour = keyof typeof CODES

export function paint(text: string, colour: Colour | undefined): string {
  return colour === undefined || !isColourful() ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`
}

function isColourful(): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0') return true
  return process.stdout.isTTY && TERM !== 'dumb'
}
