/** The store of this user, where no other was named: a file in the home folder that nobody else can read. */
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export function ownStore(): string {
  const folder = join(homedir(), '.ibid')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return `sqlite:${join(folder, 'ibid.db')}`
}
