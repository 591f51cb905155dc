/** Tokens as the replay gives them out: a token has one life, and the model calls all lives of a call by its number. */

export function tokenText(call: number, life: number): string {
  return life === 0 ? String(call) : `${call}, life ${life + 1}`
}

export function callOf(token: string): number {
  return Number(token.split(',')[0])
}
