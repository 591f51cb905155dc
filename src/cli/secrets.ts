/**
 * Store URLs hold passwords, and client libraries put URLs into their errors. What was given as a secret is remembered
 * here, so that nothing which a command prints can repeat it.
 */
const secrets = new Set<string>()

/** Remembers the credentials of a store URL, as written and as decoded. */
export function keepSecret(url: string): void {
  const [, user = '', password = ''] = /^[^:]+:\/\/([^:@/?#]*)(?::([^@]*))?@/.exec(url) ?? []
  if (password !== '') for (const form of [url, password, decoded(password)]) secrets.add(form)
  else if (user !== '') secrets.add(url)
  for (const [, value = ''] of url.matchAll(/[?&](?:password|pass|token|secret)=([^&#]*)/gi)) {
    for (const form of [value, decoded(value)]) if (form !== '') secrets.add(form)
  }
}

export function scrub(text: string): string {
  let clean = text
  for (const secret of [...secrets].sort((a, b) => b.length - a.length))
    clean = clean.replaceAll(secret, '***')
  return clean
}

/** A store URL that may be shown: which store, where, and nothing that lets anybody in. */
export function shownUrl(url: string): string {
  return url.replace(/^([^:]+:\/\/)[^@/?#]*@/, '$1').replace(/[?#].*$/, '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
