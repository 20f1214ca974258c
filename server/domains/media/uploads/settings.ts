import { z } from 'zod'
import { decimalNumber, defineSettings } from '#server/kernel/settings'
import { mostFileMegabytes } from '#shared/api/media/uploads'

const megabyte = 1024 * 1024

const megabytes = (usual: number, most = 1_000_000) => decimalNumber(z.number().int().min(1).max(most)).default(usual)

/** Bytes a day: of an account, of one younger than a day, and of an address. Then the bytes of one file. */
export const uploadSettings = defineSettings(
  {
    UPLOAD_QUOTA_MB: megabytes(500),
    UPLOAD_QUOTA_NEW_MB: megabytes(100),
    UPLOAD_QUOTA_ADDRESS_MB: megabytes(5_000),
    UPLOAD_FILE_MB: megabytes(25, mostFileMegabytes),
    UPLOAD_FILE_NEW_MB: megabytes(10, mostFileMegabytes),
    UPLOAD_FILE_ADMIN_MB: megabytes(100, mostFileMegabytes),
    UPLOAD_PROGRAMS: z.enum(['on', 'off']).default('off'),
  },
  ({ UPLOAD_QUOTA_MB, UPLOAD_QUOTA_NEW_MB, UPLOAD_QUOTA_ADDRESS_MB, ...files }) => ({
    accountBytes: UPLOAD_QUOTA_MB * megabyte,
    newAccountBytes: Math.min(UPLOAD_QUOTA_MB, UPLOAD_QUOTA_NEW_MB) * megabyte,
    addressBytes: UPLOAD_QUOTA_ADDRESS_MB * megabyte,
    fileBytes: files.UPLOAD_FILE_MB * megabyte,
    newFileBytes: Math.min(files.UPLOAD_FILE_MB, files.UPLOAD_FILE_NEW_MB) * megabyte,
    adminFileBytes: Math.max(files.UPLOAD_FILE_MB, files.UPLOAD_FILE_ADMIN_MB) * megabyte,
    takesPrograms: files.UPLOAD_PROGRAMS === 'on',
  }),
)
