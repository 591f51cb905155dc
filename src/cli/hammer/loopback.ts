/**
 * The hammer repeats writes on purpose. Against anything but this machine it wants to be told that it may: a name
 * that happens to point here does not count, since names change.
 */
import { invalidIntent } from '../../core/errors.js'

export const CONSENT = '--yes-this-is-a-test-system'

function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|[^.]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

export function mustBeSafe(url: URL, hasConsent: boolean): void {
  if (hasConsent || isLoopback(url)) return
  throw invalidIntent(
    `--url is ${url.origin}, which is not this machine`,
    `its effects will be repeated if it has a fault: if nothing there is real, add ${CONSENT}`,
  )
}
