/** Versions of contracts: does a tool of this version serve a caller that was written for that one? */

const SEMVER = /^(\d+)\.(\d+)\.(\d+)(?:[-+][\w.+-]+)?$/

export function isVersion(version: unknown): version is string {
  return typeof version === 'string' && SEMVER.test(version)
}

/** The same major version, or the same minor of a 0, and not older than wanted. */
export function serves(version: string, wanted: string): boolean {
  const [has, needs] = [partsOf(version), partsOf(wanted)]
  if (!has || !needs || has[0] !== needs[0]) return false
  if (has[0] === 0 && has[1] !== needs[1]) return false
  return has[1] > needs[1] || (has[1] === needs[1] && has[2] >= needs[2])
}

function partsOf(version: string): [number, number, number] | undefined {
  const match = SEMVER.exec(version)
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined
}
