/** The store of this user, where no other was named: a file in the home folder that nobody else can read. */
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

export function ownFile(): string {
  return join(homedir(), '.ibid', 'ibid.db')
}

export function ownStore(): string {
  const file = ownFile()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return `sqlite:${file}`
}
