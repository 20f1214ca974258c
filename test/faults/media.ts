import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedAttendance } from '#server/ports/attendance/scripted'
import type { Storage } from '#server/ports/storage/port'
import { type S3Config, s3Storage } from '#server/ports/storage/s3'
import { openAttendanceProvider } from '#test/support/attendance'
import { s3Command, s3Keys } from '#test/support/s3'
import { freePort } from '../../scripts/test-servers.mjs'
import { Process } from './processes.ts'
import { openStorageFront, type StorageFront } from './storage-front.ts'

const bucket = 'chat-images'
const key = 'faults'
/** Many, as answers about an event are kept for a minute. */
export const eventIds = Array.from({ length: 6 }, (_, at) => at + 1)

/** The services that media and rooms of attendance need. */
export interface Services {
  s3: Process
  front: StorageFront
  /** The storage, reached without the front. */
  storage: Storage
  tokens: ReturnType<typeof scriptedAttendance>
  provider: Awaited<ReturnType<typeof openAttendanceProvider>>
  environment: Record<string, string>
  close(): Promise<void>
}

export async function openServices(directory: string): Promise<Services> {
  const port = await freePort()
  const folder = join(directory, 's3')
  mkdirSync(folder)
  const s3 = new Process('s3', port, s3Command(folder, port, [bucket]))
  await s3.start()
  const front = await openStorageFront(port)
  const tokens = scriptedAttendance({ events: eventIds.map((id) => ({ id, name: `Meeting ${id}`, imageUrl: null })) })
  const provider = await openAttendanceProvider(tokens, key)
  const direct: S3Config = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', buckets: {}, ...s3Keys }
  return {
    s3,
    front,
    storage: s3Storage(direct),
    tokens,
    provider,
    environment: {
      S3_ENDPOINT: front.url,
      S3_ACCESS_KEY_ID: s3Keys.keyId,
      S3_SECRET_ACCESS_KEY: s3Keys.secret,
      // The disk of the stores is small here.
      STORAGE_RESERVE_MB: '0',
      ATTENDANCE_API_BASE: provider.url,
      ATTENDANCE_API_KEY: key,
    },
    async close() {
      await front.close()
      await provider.close()
    },
  }
}
