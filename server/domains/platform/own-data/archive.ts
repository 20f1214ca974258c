import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'

type Content = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>

export type Archive = ReturnType<typeof openArchive>

/** Writes a ZIP file part by part, with checksums of the parts at its end. */
export function openArchive(path: string, madeAt: Date, signal: AbortSignal) {
  const zip = new ZipFile()
  const files: { path: string; bytes: number; sha256: string }[] = []
  const written = pipeline(zip.outputStream, createWriteStream(path, { mode: 0o600 }), { signal })
  // Each part awaits it; its failure waits until then.
  written.catch(() => undefined)
  const output = zip.outputStream as Readable
  zip.on('error', (error) => output.destroy(error))

  async function add(name: string, content: Content, isCompressed = true): Promise<void> {
    const hash = createHash('sha256')
    let bytes = 0
    async function* counted() {
      for await (const piece of content) {
        const buffer = Buffer.from(piece as string)
        hash.update(buffer)
        bytes += buffer.byteLength
        yield buffer
      }
    }
    const ended = new Promise<void>((resolve, reject) => {
      const source = Readable.from(counted(), { objectMode: false })
      source.once('end', resolve)
      source.once('error', reject)
      zip.addReadStreamLazy(name, { compress: isCompressed, mtime: madeAt }, (give) => give(null, source))
    })
    await Promise.race([ended, written])
    files.push({ path: name, bytes, sha256: hash.digest('hex') })
  }

  return {
    add,
    async close(): Promise<void> {
      await add('manifest.json', [JSON.stringify({ made_at: madeAt.toISOString(), files }, null, 2)])
      zip.end()
      await written
    },
  }
}
