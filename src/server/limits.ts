/**
 * How much a tenant may ask for: items a second (a bucket that refills), and new receipts a day. Counted in
 * this process, before anything is written; several servers on one store each count for themselves.
 */
import { invalidIntent } from '../core/errors.js'
import { refusal } from './problem.js'
import type { Settings, TenantLimits } from './settings.js'

export interface Limits {
  /** Throws RATE_LIMITED, with when to come again, where `items` are too many right now. */
  spend(tenant: string, items: number): void
  /** Throws QUOTA_EXCEEDED where the day's receipts are used up. */
  checkQuota(tenant: string, items: number): void
  /** New receipts that were written. */
  wrote(tenant: string, items: number): void
}

interface Bucket {
  left: number
  atMs: number
}

const DAY_MS = 86_400_000
const MOST_TENANTS = 100_000

export function createLimits(settings: Settings, nowMs: () => number = Date.now): Limits {
  const buckets = new Map<string, Bucket>()
  let day = 0
  let written = new Map<string, number>()

  function limitsOf(tenant: string): Required<TenantLimits> {
    const own = settings.tenants.get(tenant)
    const rate = own?.ratePerSecond ?? settings.ratePerSecond
    const burst = own?.burst ?? settings.burst
    return {
      ratePerSecond: rate,
      burst: burst > 0 ? burst : Math.max(rate * 2, settings.maxBatch),
      quotaPerDay: own?.quotaPerDay ?? settings.quotaPerDay,
    }
  }

  function writtenToday(tenant: string): number {
    const today = Math.floor(nowMs() / DAY_MS)
    if (today !== day) {
      day = today
      written = new Map()
    }
    return written.get(tenant) ?? 0
  }

  return {
    spend(tenant, items) {
      const { ratePerSecond, burst } = limitsOf(tenant)
      if (ratePerSecond === 0) return
      if (items > burst)
        throw invalidIntent(`${items} items are more than the burst of ${burst}`, 'send fewer at once')
      const now = performance.now()
      const bucket = buckets.get(tenant) ?? { left: burst, atMs: now }
      bucket.left = Math.min(burst, bucket.left + ((now - bucket.atMs) * ratePerSecond) / 1_000)
      bucket.atMs = now
      // A full bucket is what a stranger has: whoever is forgotten loses nothing.
      if (buckets.size >= MOST_TENANTS) buckets.clear()
      buckets.set(tenant, bucket)
      if (bucket.left < items) {
        const waitMs = Math.ceil(((items - bucket.left) * 1_000) / ratePerSecond)
        throw refusal(
          'RATE_LIMITED',
          `tenant ${JSON.stringify(tenant)} asks for more than ${ratePerSecond} items a second; nothing was executed`,
          `send the same request again in ${waitMs} ms`,
          waitMs,
        )
      }
      bucket.left -= items
    },
    checkQuota(tenant, items) {
      const { quotaPerDay } = limitsOf(tenant)
      if (quotaPerDay === 0 || writtenToday(tenant) + items <= quotaPerDay) return
      throw refusal(
        'QUOTA_EXCEEDED',
        `tenant ${JSON.stringify(tenant)} has used its ${quotaPerDay} new receipts of today; nothing was executed`,
        'come again tomorrow (UTC), or have the quota raised',
        DAY_MS - (nowMs() % DAY_MS),
      )
    },
    wrote(tenant, items) {
      written.set(tenant, writtenToday(tenant) + items)
    },
  }
}
