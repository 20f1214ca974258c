// Imported before s3rver. Objects are stored whole or not at all, even if a side ends while sending, as in real storage.
import crypto, { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import Store from 's3rver/lib/stores/filesystem.js'

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

// It writes the place of the next page by DES, which OpenSSL 3 has no more: a list of over 1,000 objects would always fail.
const twice = (bytes) => Buffer.concat([bytes, bytes])
for (const name of ['createCipheriv', 'createDecipheriv']) {
  const create = crypto[name]
  crypto[name] = (cipher, key, iv, ...rest) =>
    cipher === 'des' ? create('aes-128-cbc', twice(key), twice(iv), ...rest) : create(cipher, key, iv, ...rest)
}
