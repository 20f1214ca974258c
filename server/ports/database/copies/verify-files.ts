import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { CopyError } from '../embedded/sums.ts'
import { decode } from '../embedded/values.ts'
import { askStore } from '../embedded.ts'
import { keysIn, unlessMissing } from './files.ts'

/** What a document says of a file that somebody uploaded. */
const Upload = z.object({
  _id: z.string(),
  bytes: z.number(),
  /** Of what was sealed its SHA-256; of everything else its key. */
  content: z.string(),
  stored_at: z.date().optional(),
  taken_at: z.date().optional(),
})
type Upload = z.infer<typeof Upload>

const isHash = /^[\w-]{43}$/
const mostFaults = 10

/** Reads each file that a document names, and throws if one is missing or different. Returns their number. */
export async function verifyFiles(directory: string, folder: string): Promise<string> {
  // What is uploaded or removed meanwhile is no fault, so the documents have the last word.
  const before = await uploadsOf(directory)
  const keys = await keysIn(folder)
  const suspects = new Map<string, string>()
  for (const upload of before.values()) {
    const fault = isThere(upload) ? await faultOf(upload, join(folder, upload._id)) : null
    if (fault) suspects.set(upload._id, fault)
  }
  const after = await uploadsOf(directory)
  const faults = [...suspects].flatMap(([key, fault]) => (isThere(after.get(key)) ? [`${key} ${fault}`] : []))
  const more = faults.length > mostFaults ? ` and ${faults.length - mostFaults} more` : ''
  if (faults.length > 0) throw new CopyError(`Files are damaged: ${faults.slice(0, mostFaults).join('; ')}${more}.`)
  const unnamed = keys.filter((key) => !before.has(key) && !after.has(key)).length
  const unfinished = ((await readdir(join(folder, '.unfinished')).catch(unlessMissing)) ?? []).length
  const named = [...before.values()].filter(isThere).length
  return `files: ${named} that documents name, ${unnamed} that none names, ${unfinished} unfinished`
}

/** Is the file of this document in the storage, and to stay there? */
const isThere = (upload: Upload | undefined): boolean => Boolean(upload?.stored_at && !upload.taken_at)

async function faultOf({ bytes, content }: Upload, path: string): Promise<string | null> {
  const file = await stat(path).catch(unlessMissing)
  if (!file) return 'is missing'
  if (file.size !== bytes) return `has ${file.size} bytes instead of ${bytes}`
  if (!isHash.test(content)) return null
  const hash = createHash('sha256')
  const isRead = await pipeline(createReadStream(path), hash).then(() => true, unlessMissing)
  return !isRead ? 'is missing' : hash.digest('base64url') === content ? null : 'is not what was uploaded'
}

async function uploadsOf(directory: string): Promise<Map<string, Upload>> {
  const found = new Map<string, Upload>()
  let rest = ''
  for await (const text of askStore(directory, 'backup uploads')) {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '' || line.startsWith('#')) continue
      const upload = Upload.parse(decode(Buffer.from(line)))
      found.set(upload._id, upload)
    }
  }
  return found
}
