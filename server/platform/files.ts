import { join } from 'node:path'
import type { Config } from '#server/config'
import type { Services } from '#server/kernel/context'
import type { Database } from '#server/ports/database/port'
import { httpPinning } from '#server/ports/pinning/http'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'
import type { PartsOf } from './part.ts'

type OfFiles = 'storage' | 'pinning'

export const openFiles = async (config: Config, database: Database): Promise<Pick<Services, OfFiles>> => ({
  storage: await openStorage(config, database),
  pinning: config.pinning && httpPinning(config.pinning.url, config.pinning.key, config.pinning.gateways),
})

async function openStorage({ s3, dataDirectory, reserveBytes }: Config, { alone }: Database): Promise<Storage | null> {
  if (s3 === null) return alone ? localStorage(filesIn(dataDirectory), reserveBytes) : null
  const { s3Storage } = await import('#server/ports/storage/s3')
  return s3Storage(s3)
}

/** The folder of uploads on a node with a data directory. */
export const filesIn = (dataDirectory: string): string => join(dataDirectory, 'files')

export const filesParts: PartsOf<OfFiles> = {
  storage: ({ s3, mongodbUri, dataDirectory }) => {
    if (s3) return { part: 'files', adapter: new URL(s3.endpoint).host, why: 'S3_ENDPOINT is set' }
    return mongodbUri === undefined
      ? { part: 'files', adapter: 'a folder', why: `S3_ENDPOINT is not set: they are kept in ${dataDirectory}/files` }
      : { part: 'files', adapter: 'none', why: 'S3_ENDPOINT is not set, which several nodes need: uploads answer 503' }
  },
  pinning: ({ pinning }) =>
    pinning === null
      ? { part: 'pinning', adapter: 'none', why: 'PINNING_URL is not set: pixel art is kept here alone' }
      : { part: 'pinning', adapter: new URL(pinning.url).host, why: 'PINNING_URL is set' },
}
