/** What this process was told: Node, the store's URL and where it came from, and who may read the file. */
import { existsSync, statSync } from 'node:fs'
import type { StoreFinding } from '../../store.js'
import { shownUrl } from '../secrets.js'
import { sqliteFile, type StoreOptions, storeUrl } from '../store-option.js'
import type { Diagnosis } from './diagnosis.js'

const OTHERS = 0o007

export function checkConfiguration(options: StoreOptions): Diagnosis {
  const { url, from } = storeUrl(options)
  const findings: StoreFinding[] = []
  if (from === '--store' && /^[a-z]+:\/\/[^@/]*:[^/]+@/i.test(url)) {
    findings.push({
      level: 'warning',
      code: 'PASSWORD_ON_COMMAND_LINE',
      message:
        'the store URL on the command line holds a password, which other users of this machine can see',
      remedy: 'put it into IBID_STORE, or leave the password to the client (PGPASSFILE, a role, a socket)',
    })
  }
  const file = sqliteFile(url)
  if (file !== undefined && existsSync(file) && process.platform !== 'win32') {
    const { mode } = statSync(file)
    if ((mode & OTHERS) !== 0) {
      findings.push({
        level: 'warning',
        code: 'FILE_OPEN_TO_OTHERS',
        message: `${file} can be read by every user of this machine; receipts hold what effects returned`,
        remedy: `chmod o-rwx ${file}, and the same for its -wal and -shm files`,
      })
    }
  }
  const facts = { node: process.version, store: shownUrl(url), 'store from': from }
  return { area: 'configuration', facts, findings }
}
