import { z } from 'zod'
import { decimalNumber, defineSettings } from '#server/kernel/settings'

const megabyte = 1024 * 1024

const megabytes = (most: number) => decimalNumber(z.number().int().min(1).max(1_000_000)).default(most)

/** Bytes a day: of an account, of one younger than a day, and of an address. */
export const uploadSettings = defineSettings(
  {
    UPLOAD_QUOTA_MB: megabytes(500),
    UPLOAD_QUOTA_NEW_MB: megabytes(100),
    UPLOAD_QUOTA_ADDRESS_MB: megabytes(5_000),
  },
  ({ UPLOAD_QUOTA_MB, UPLOAD_QUOTA_NEW_MB, UPLOAD_QUOTA_ADDRESS_MB }) => ({
    accountBytes: UPLOAD_QUOTA_MB * megabyte,
    newAccountBytes: Math.min(UPLOAD_QUOTA_MB, UPLOAD_QUOTA_NEW_MB) * megabyte,
    addressBytes: UPLOAD_QUOTA_ADDRESS_MB * megabyte,
  }),
)
