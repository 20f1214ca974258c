import { PassThrough, pipeline, type Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { AppError } from '#shared/errors'
import { fileDispositionOf, fileTypeOf } from '#shared/kit/file-name'
import { bytesOf, isKey, type ListedBlob, type Storage } from './port.ts'

export interface S3Config {
  endpoint: string
  region: string
  keyId: string
  secret: string
  /** What a bucket of ours is called there; itself where nothing is said. */
  buckets: Readonly<Record<string, string>>
}

const connectMilliseconds = 1_000
const answerMilliseconds = 5_000
/** A body of which no byte comes for so long is given up. */
const silenceMilliseconds = 5_000
/** A blob that goes there more slowly is given up. */
const leastBytesPerMillisecond = 1_000
/** So many blobs go there at a time: of more, each would be so slow that it is given up. */
const putsAtOnce = 16

/** Any S3 server. Objects are private there; this server reads them for every holder of their address. */
export function s3Storage({ endpoint, region, keyId, secret, buckets }: S3Config): Storage {
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId: keyId, secretAccessKey: secret },
    forcePathStyle: true,
    maxAttempts: 1,
    logger: silent,
    // Checksums within a streamed body are stored as part of it by servers that do not know them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectMilliseconds,
      requestTimeout: answerMilliseconds,
      throwOnRequestTimeout: true,
    },
  })
  const inTurn = fewAtOnce(putsAtOnce)
  const at = (key: string) => {
    const slash = key.indexOf('/')
    const bucket = key.slice(0, slash)
    return { Bucket: buckets[bucket] ?? bucket, Key: key.slice(slash + 1) }
  }
  return {
    name: new URL(endpoint).host,
    async put(key, blob) {
      if (!isKey(key)) throw new Error(`Not a key: ${key}`)
      const about = {
        ContentLength: blob.size,
        ContentType: fileTypeOf(key),
        ContentDisposition: fileDispositionOf(key),
        CacheControl: 'public, max-age=31536000, immutable',
      }
      const requestTimeout = answerMilliseconds + blob.size / leastBytesPerMillisecond
      await whileThere(() =>
        inTurn(() =>
          whileReadable(blob, (Body, abortSignal) =>
            client.send(new PutObjectCommand({ ...at(key), ...about, Body }), { requestTimeout, abortSignal }),
          ),
        ),
      )
    },
    async read(key, range) {
      if (!isKey(key)) return null
      const Range = range && `bytes=${range.start}-${range.end}`
      return whileThere(async () => {
        const found = await client.send(new GetObjectCommand({ ...at(key), ...(Range ? { Range } : {}) }))
        const body = found.Body as Readable
        try {
          const size = told(/\/(\d+)$/.exec(found.ContentRange ?? '')?.[1] ?? found.ContentLength)
          return { size, bytes: endingWhenSilent(body) }
        } catch (error) {
          body.destroy()
          throw error
        }
      }).catch(unlessMissing)
    },
    async sizeOf(key) {
      if (!isKey(key)) return null
      return whileThere(async () => told((await client.send(new HeadObjectCommand(at(key)))).ContentLength)).catch(
        unlessMissing,
      )
    },
    async remove(key) {
      if (isKey(key)) await whileThere(() => client.send(new DeleteObjectCommand(at(key))))
    },
    // What is cut off on its way there is never an object.
    async removeUnfinished() {},
    async *list(bucket): AsyncIterable<ListedBlob> {
      let StartAfter = ''
      for (let isMore = true; isMore; ) {
        const asked = { Bucket: buckets[bucket] ?? bucket, ...(StartAfter && { StartAfter }) }
        const page = await whileThere(() => client.send(new ListObjectsV2Command(asked)))
        for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
          if (LastModified) yield { key: `${bucket}/${Key}`, size: Size, storedAt: LastModified }
          StartAfter = Key
        }
        isMore = page.IsTruncated ?? false
      }
    },
  }
}

/** Ends a failed upload on both sides, as the client notices no failed read, and does not stop reading either. */
async function whileReadable<T>(blob: Blob, send: (body: Readable, signal: AbortSignal) => Promise<T>): Promise<T> {
  const broken = new AbortController()
  const body = bytesOf(blob).on('error', () => broken.abort())
  try {
    return await send(body, broken.signal)
  } finally {
    body.destroy()
  }
}

/** Ends a body, and the connection that it comes by, once nothing has come for too long. The time in which its reader takes nothing does not count. */
function endingWhenSilent(body: Readable): Readable {
  const bytes = new PassThrough()
  const silence = setTimeout(() => {
    if (bytes.writableNeedDrain) silence.refresh()
    else body.destroy(new AppError('TIMEOUT', { message: 'The storage has stopped in the middle of a file' }))
  }, silenceMilliseconds)
  const isHeard = () => void silence.refresh()
  body.on('data', isHeard)
  pipeline(body, bytes.on('drain', isHeard), () => clearTimeout(silence))
  return bytes
}

const quiet = () => {}
/** Its own warnings say nothing that the refusals do not. */
const silent = { debug: quiet, info: quiet, warn: quiet, error: quiet }

/** The length of a blob by an answer. Throws without one, as the blob would seem empty. */
function told(bytes: number | string | undefined): number {
  if (bytes === undefined) throw new Error('The storage does not say how long a blob is')
  return Number(bytes)
}

class Missing extends Error {}

function unlessMissing(error: unknown): null {
  if (error instanceof Missing) return null
  throw error
}

async function whileThere<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const { name } = error as Error
    if (name === 'NoSuchKey' || name === 'NotFound') throw new Missing()
    const isLate = name === 'TimeoutError'
    throw new AppError(isLate ? 'TIMEOUT' : 'UPSTREAM_ERROR', {
      message: 'Files cannot be stored at the moment',
      cause: error,
    })
  }
}
