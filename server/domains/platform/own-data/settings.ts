import { z } from 'zod'
import { decimalNumber, defineSettings } from '#server/kernel/settings'

export const erasureSettings = defineSettings(
  { ERASURE_GRACE_DAYS: decimalNumber(z.number().int().min(0).max(30)).default(14) },
  (given) => ({
    /** So long an owner can take the erasure of an account back. */
    graceDays: given.ERASURE_GRACE_DAYS,
    graceMilliseconds: given.ERASURE_GRACE_DAYS * 86_400_000,
  }),
)
