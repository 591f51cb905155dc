/**
 * Store URLs hold passwords, and client libraries put URLs into their errors. What was given as a secret is remembered
 * here, so that nothing which a command prints can repeat it.
 */
const secrets = new Set<string>()
/** Secrets at the place that gives them away: the whole URL, or what stands in front of its @. */
const inPlace = new Set<string>()

/** Remembers the credentials of a store URL, as written and as decoded. */
export function keepSecret(url: string): void {
  const credentials = credentialsIn(url)
  if (credentials !== '') for (const form of [url, `${credentials}@`]) inPlace.add(form)
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(credentials) ?? []
  if (password !== '') for (const form of [password, decoded(password)]) secrets.add(form)
  for (const [, value = ''] of url.matchAll(/[?&](?:password|pass|token|secret)=([^&#]*)/gi)) {
    for (const form of [value, decoded(value)]) if (form !== '') secrets.add(form)
  }
}

/** For what others worded, such as errors: no secret is left, wherever it stands. */
export function scrub(text: string): string {
  return without(text, [...inPlace, ...secrets])
}

/** For what the store holds: a key or a value that happens to be like a password is told as it is. */
export function scrubUrls(text: string): string {
  return without(text, [...inPlace])
}

/** Of the texts alone, so that it stays JSON with the same names and numbers. */
export function jsonWith(clean: (text: string) => string, value: unknown, space?: number): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'string' ? clean(part) : part), space)
}

function without(text: string, hidden: readonly string[]): string {
  let clean = text
  for (const secret of hidden.toSorted((a, b) => b.length - a.length)) clean = clean.replaceAll(secret, '***')
  return clean
}

/** A store URL that may be shown: which store, where, and nothing that lets anybody in. */
export function shownUrl(url: string): string {
  const credentials = credentialsIn(url)
  const open = credentials === '' ? url : url.replace(`${credentials}@`, '')
  return open.replace(/[?#].*$/s, '')
}

/** Up to the last @, as URLs are read; where none can be read, a password may hold anything. */
function credentialsIn(url: string): string {
  const end = URL.canParse(url) ? url.search(/[?#]|$/) : url.length
  return /^[^:]+:\/\/(.*)@/s.exec(url.slice(0, end))?.[1] ?? ''
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
