/**
 * API keys: `ibid_<id>_<secret>`, where the secret is 256 random bits and only its SHA-256 is kept. They are receipts
 * themselves, in a tenant of their own, so that every store keeps them, every server on that store knows them,
 * and the audit log says when each was made and revoked. A key that is revoked stays known as revoked.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { invalidIntent } from '../core/errors.js'
import { checkAddress } from '../core/intent.js'
import type { Ibid } from '../ibid.js'

export const RIGHTS = ['read', 'write', 'resolve', 'admin'] as const
export type Right = (typeof RIGHTS)[number]

/** Whoever sent a request. */
export interface Principal {
  readonly keyId: string
  /** `*`: every tenant; each request then says which. */
  readonly tenant: string
  readonly rights: ReadonlySet<Right>
}

export interface KeyRecord {
  readonly id: string
  readonly tenant: string
  readonly rights: readonly Right[]
  readonly note: string
  readonly hash: string
}

export interface KeyLine extends Omit<KeyRecord, 'hash'> {
  readonly createdAt: number
  readonly revokedAt: number | undefined
}

/** Names that begin so are the server's own. */
export const RESERVED = 'ibid:'
export const OWN_TENANT = `${RESERVED}server`
export const EVERY_TENANT = '*'
const MADE = 'api-key'
const REVOKED = 'api-key-revoked'
/** The longest there is. Nothing else would keep a revoked key revoked. */
const KEPT = { window: '36500d', recovery: 'retry' } as const
const KEY = /^ibid_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/
/** How long a server believes what it read of a key: so long may one that was revoked elsewhere still work. */
const BELIEVED_MS = 2_000
const MOST_REMEMBERED = 10_000

export async function createKey(
  ibid: Ibid,
  {
    tenant,
    rights,
    note = '',
  }: { readonly tenant: string; readonly rights: readonly string[]; readonly note?: string },
): Promise<{ readonly key: string; readonly id: string }> {
  checkAddress({ tenant, scope: 'scope', key: 'key' })
  if (tenant.startsWith(RESERVED)) {
    throw invalidIntent(
      `tenant ${JSON.stringify(tenant)} is the server's own`,
      'choose a name that does not begin with ibid:',
    )
  }
  const strange = rights.find((right) => !RIGHTS.includes(right as Right))
  if (rights.length === 0 || strange !== undefined) {
    throw invalidIntent(`rights has ${strange ?? 'nothing in it'}`, `give rights any of ${RIGHTS.join(', ')}`)
  }
  const id = randomBytes(8).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  const record: KeyRecord = {
    id,
    tenant,
    rights: rights as readonly Right[],
    note,
    hash: hash('sha256', secret),
  }
  await ibid.once({ tenant: OWN_TENANT, scope: MADE, key: id }, () => record, KEPT)
  return { key: `ibid_${id}_${secret}`, id }
}

export async function revokeKey(ibid: Ibid, id: string, why: string): Promise<void> {
  const made = /^[0-9a-f]{16}$/.test(id)
    ? await ibid.get({ tenant: OWN_TENANT, scope: MADE, key: id })
    : undefined
  if (!made) throw invalidIntent(`there is no key ${JSON.stringify(id)}`, 'ibid keys list shows the ids')
  await ibid.once({ tenant: OWN_TENANT, scope: REVOKED, key: id }, () => why, KEPT)
}

export async function listKeys(ibid: Ibid): Promise<readonly KeyLine[]> {
  const lines: KeyLine[] = []
  let cursor: string | undefined
  do {
    const page = await ibid.list({
      tenant: OWN_TENANT,
      scope: MADE,
      state: 'succeeded',
      limit: 1_000,
      cursor,
    })
    for (const { key: id, createdAt } of page.receipts) {
      const [made, revoked] = await both(ibid, id)
      if (!made) continue
      const { hash: _, ...shown } = made.value as KeyRecord
      lines.push({ ...shown, createdAt, revokedAt: revoked?.createdAt })
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  return lines.sort((a, b) => a.createdAt - b.createdAt)
}

export interface Gatekeeper {
  /** Undefined: no key, a wrong one, a revoked one. Nobody is told which. */
  admit(authorization: string | undefined): Promise<Principal | undefined> | Principal | undefined
}

interface Known {
  readonly hash: Buffer
  readonly principal: Principal | undefined
  readonly untilMs: number
}

/** Compared with where there is no such key, so that it takes as long. */
const NOBODY = { hash: Buffer.alloc(32), principal: undefined }

export function createGatekeeper(ibid: Ibid): Gatekeeper {
  const known = new Map<string, Known>()

  async function look(id: string): Promise<Known> {
    const [made, revoked] = await both(ibid, id)
    const record = made?.value as KeyRecord | undefined
    const found =
      record && !revoked
        ? {
            hash: Buffer.from(record.hash, 'hex'),
            principal: { keyId: id, tenant: record.tenant, rights: new Set(record.rights) },
          }
        : NOBODY
    const entry = { ...found, untilMs: performance.now() + BELIEVED_MS }
    if (known.size >= MOST_REMEMBERED) known.clear()
    known.set(id, entry)
    return entry
  }

  function judge({ hash: kept, principal }: Known, secret: string): Principal | undefined {
    return timingSafeEqual(kept, hash('sha256', secret, 'buffer')) ? principal : undefined
  }

  return {
    admit(authorization) {
      const [, id, secret] = KEY.exec(/^Bearer (.*)$/i.exec(authorization ?? '')?.[1] ?? '') ?? []
      if (id === undefined || secret === undefined) return undefined
      const entry = known.get(id)
      if (entry && performance.now() < entry.untilMs) return judge(entry, secret)
      return look(id).then((found) => judge(found, secret))
    },
  }
}

export function mayDo(principal: Principal, right: Right | 'any'): boolean {
  return right === 'any' || principal.rights.has(right) || principal.rights.has('admin')
}

async function both(ibid: Ibid, id: string): Promise<readonly Awaited<ReturnType<Ibid['get']>>[]> {
  return await Promise.all([MADE, REVOKED].map((scope) => ibid.get({ tenant: OWN_TENANT, scope, key: id })))
}
