/**
 * Takes keys and secrets out of text. All of them are looked for in the text as it came: taken out one after the
 * other, a short secret would tear a longer one that holds it, and leave the rest of it to be read.
 */
export type Clean = (text: string) => string

interface Found {
  readonly from: number
  readonly to: number
  readonly word: string
}

/** Keys as deriveKey makes them. */
const KEY = /\bk\d+:[\w-]{43}(?![\w-])/g
const REDACTED = '[redacted]'

export function redactor(secrets: readonly (string | RegExp)[]): Clean {
  const texts = secrets.filter((secret) => typeof secret === 'string' && secret !== '') as string[]
  const patterns = secrets.filter((secret) => typeof secret !== 'string').map(everywhere)
  return (text) => {
    const found = [
      ...matches(text, KEY, '[key]'),
      ...texts.flatMap((secret) => places(text, secret)),
      ...patterns.flatMap((pattern) => matches(text, pattern, REDACTED)),
    ]
    return found.length === 0 ? text : without(text, found)
  }
}

function everywhere(pattern: RegExp): RegExp {
  return new RegExp(pattern, `${pattern.flags.replaceAll(/[gy]/g, '')}g`)
}

function matches(text: string, pattern: RegExp, word: string): Found[] {
  const all = Array.from(text.matchAll(pattern), ({ 0: { length }, index }) => ({
    from: index,
    to: index + length,
    word,
  }))
  return all.filter(({ from, to }) => to > from)
}

function places(text: string, secret: string): Found[] {
  const found: Found[] = []
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
    found.push({ from: at, to: at + secret.length, word: REDACTED })
  }
  return found
}

/** What overlaps is one place. */
function without(text: string, found: Found[]): string {
  let out = ''
  let end = 0
  for (const { from, to, word } of found.sort((a, b) => a.from - b.from || b.to - a.to)) {
    if (from >= end) out += text.slice(end, from) + word
    end = Math.max(end, to)
  }
  return out + text.slice(end)
}
