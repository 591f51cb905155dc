/**
 * The API key of this tab: kept in sessionStorage, gone when the tab is. A link may bring it in the
 * fragment, which never leaves the browser; it is taken out of the address at once, so that it is not copied
 * on by accident.
 */
const KEY = 'ibid.key'
const PREFIX = '#key='

export function currentKey(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined
}

export function keepKey(key: string): void {
  sessionStorage.setItem(KEY, key)
}

export function forgetKey(): void {
  sessionStorage.clear()
}

/** True: a key came with the address, and is the key of this tab now. */
export function takeKeyFromAddress(): boolean {
  if (!location.hash.startsWith(PREFIX)) return false
  keepKey(decodeURIComponent(location.hash.slice(PREFIX.length)))
  history.replaceState(null, '', `${location.pathname}#/`)
  return true
}

/** What a person typed before in this tab, such as their name. */
export function recall(name: string): string {
  return sessionStorage.getItem(`ibid.${name}`) ?? ''
}

export function remember(name: string, text: string): void {
  sessionStorage.setItem(`ibid.${name}`, text)
}
