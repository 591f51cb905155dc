/**
 * The packages that are shown here, from bench/peers, where npm ci puts them. In a project of one's own these are
 * plain imports.
 */
import { createRequire } from 'node:module'

export const peer = createRequire(new URL('../../bench/peers/package.json', import.meta.url))

export function versionOf(name) {
  const { dependencies } = peer('./package.json')
  return `${name} ${dependencies[name]}`
}
