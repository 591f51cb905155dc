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
  /**
   * Room for one new receipt, until the result is told whether it was written. Throws QUOTA_EXCEEDED where the day's
   * receipts are used up, or will be if all that are under way are written.
   */
  reserve(tenant: string): (isWritten: boolean) => void
}

interface Bucket {
  left: number
  atMs: number
}

const DAY_MS = 86_400_000
const MOST_TENANTS = 100_000
/** Claims that are under way have been answered by then, but for those that wait. */
const UNDER_WAY_MS = 1_000

export function createLimits(settings: Settings, nowMs: () => number = Date.now): Limits {
  const buckets = new Map<string, Bucket>()
  let day = 0
  let written = new Map<string, number>()
  const underWay = new Map<string, number>()

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

  function usedUp(tenant: string, quotaPerDay: number): Error {
    const whose = `tenant ${JSON.stringify(tenant)}`
    if (writtenToday(tenant) >= quotaPerDay) {
      return refusal(
        'QUOTA_EXCEEDED',
        `${whose} has used its ${quotaPerDay} new receipts of today; nothing was executed`,
        'come again tomorrow (UTC), or have the quota raised',
        DAY_MS - (nowMs() % DAY_MS),
      )
    }
    return refusal(
      'QUOTA_EXCEEDED',
      `${whose} has claims under way for the rest of its ${quotaPerDay} new receipts of today; nothing was executed`,
      'come again when they have been answered',
      UNDER_WAY_MS,
    )
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
    reserve(tenant) {
      const { quotaPerDay } = limitsOf(tenant)
      const before = underWay.get(tenant) ?? 0
      if (quotaPerDay > 0 && writtenToday(tenant) + before >= quotaPerDay) throw usedUp(tenant, quotaPerDay)
      underWay.set(tenant, before + 1)
      return (isWritten) => {
        const left = (underWay.get(tenant) ?? 1) - 1
        if (left > 0) underWay.set(tenant, left)
        else underWay.delete(tenant)
        if (isWritten) written.set(tenant, writtenToday(tenant) + 1)
      }
    },
  }
}
