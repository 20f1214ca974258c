import { z } from 'zod'
import { defineSettings } from '#server/kernel/settings'

const megabyte = 1024 * 1024

/** How much an account may store on a day. */
export const uploadSettings = defineSettings(
  { UPLOAD_QUOTA_MB: z.coerce.number().int().min(1).max(1_000_000).default(500) },
  ({ UPLOAD_QUOTA_MB }) => ({ quotaBytes: UPLOAD_QUOTA_MB * megabyte }),
)
