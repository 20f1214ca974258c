// Imported before s3rver. Objects are stored whole or not at all, even if a side ends while sending, as in real storage.
import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import S3Object from 's3rver/lib/models/object.js'
import Store from 's3rver/lib/stores/filesystem.js'

const isKept = (name) => S3Object.ALLOWED_METADATA.includes(name) || name.startsWith('x-amz-meta-')

/** A process that is killed during a write would leave half of it, and every later list would fail. */
Store.prototype.putMetadata = async function (bucket, key, metadata, md5) {
  const kept = Object.fromEntries(Object.entries(metadata).filter(([name]) => isKept(name)))
  const put = async (resource, text) => {
    const unfinished = join(this.rootDirectory, `unfinished-${randomUUID()}`)
    await writeFile(unfinished, text)
    await rename(unfinished, this.getResourcePath(bucket, key, resource))
  }
  if (md5) await put('object.md5', md5)
  await put('metadata.json', JSON.stringify(kept))
}

Store.prototype.putObject = async function ({ bucket, key, content, metadata }) {
  const unfinished = join(this.rootDirectory, `unfinished-${randomUUID()}`)
  const hash = createHash('md5')
  let size = 0
  const measured = async function* (pieces) {
    for await (const piece of pieces) {
      hash.update(piece)
      size += piece.length
      yield piece
    }
  }
  try {
    const body = Buffer.isBuffer(content) ? Readable.from([content]) : content
    await pipeline(body, measured, createWriteStream(unfinished))
    const md5 = hash.digest('hex')
    const path = this.getResourcePath(bucket, key, 'object')
    await mkdir(dirname(path), { recursive: true })
    await this.putMetadata(bucket, key, metadata, md5)
    await rename(unfinished, path)
    return { size, md5 }
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
