/**
 * What can go wrong with a file, in words: what happened, what it means for the batch, what to do. SQLite's own
 * code decides. All are IbidErrors, and cross from the worker thread as plain facts.
 */
import { IbidError, storeFailure } from '../../core/errors.js'

export interface Failure {
  readonly message: string
  readonly action: string
  readonly retriable: boolean
  /**
   * `busy`: somebody else holds the lock, worth another try before anyone is told. `full`: it has no room.
   * `file`: something is wrong with the file, and opening it again may help. `call`: this call is to blame.
   */
  readonly kind: 'busy' | 'full' | 'file' | 'call'
}

export function toError({ message, action, retriable }: Failure): IbidError {
  return storeFailure(message, action, retriable)
}

/** What SQLite says when it has waited in vain. */
export function lockedTooLong(file: string): Failure {
  return failureOf(Object.assign(new RangeError('database is locked'), { errcode: 5 }), file)
}

/** SQLite's primary result code; undefined for what does not come from SQLite. */
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

/** A row that may not be as somebody wanted to write it. */
export function isConstraint(error: unknown): boolean {
  return resultCode(error) === 19
}

interface Known {
  readonly told: string
  readonly action: string
  readonly retriable: boolean
  readonly kind?: Failure['kind']
}

const LOCKED: Known = {
  told: 'is locked by another writer for too long',
  action: 'repeat the call; if it goes on, look for a long transaction or backup that holds the file',
  retriable: true,
  kind: 'busy',
}

const DAMAGED: Known = {
  told: 'is damaged',
  action: 'stop all writers, keep a copy of the file, and restore it from a backup or with ".recover"',
  retriable: false,
}

const KNOWN: Readonly<Record<number, Known>> = {
  5: LOCKED,
  6: LOCKED,
  15: LOCKED,
  8: {
    told: 'cannot be written',
    action: 'give this user the right to write the file and its directory, or mount them writable',
    retriable: true,
  },
  10: {
    told: 'could not be read or written',
    action: 'look at the disk and its file system, then repeat the call',
    retriable: true,
  },
  11: DAMAGED,
  13: {
    told: 'cannot grow: the disk is full, or its maxBytes are used up',
    action: 'free space or purge old receipts, then repeat the call',
    retriable: true,
    kind: 'full',
  },
  14: {
    told: 'cannot be opened',
    action: 'see that its directory exists and that this user may write there',
    retriable: true,
  },
  26: {
    told: 'is not an SQLite database',
    action: 'give the path of an SQLite file, or of a file that does not exist yet',
    retriable: false,
  },
}

export function failureOf(error: unknown, file: string): Failure {
  if (error instanceof IbidError) {
    return { message: error.message, action: error.action, retriable: error.retriable, kind: 'file' }
  }
  const said = error instanceof Error ? error.message : String(error)
  const known = KNOWN[resultCode(error) ?? 0]
  return {
    message: `${file} ${known?.told ?? 'could not be used'} (${said}); this call wrote nothing to it`,
    action: known?.action ?? 'read the message; the file was left as it was',
    retriable: known?.retriable ?? false,
    kind: known ? (known.kind ?? 'file') : 'call',
  }
}
