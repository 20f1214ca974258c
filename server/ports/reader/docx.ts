import { inflateRawSync } from 'node:zlib'
import { AppError } from '#shared/errors'
import type { ReadDocument } from './port.ts'
import { lines } from './text.ts'

const mostBytes = 32 * 2 ** 20
const mostEntries = 10_000
const content = 'word/document.xml'

const signatures = { end: 0x06054b50, entry: 0x02014b50, file: 0x04034b50 }
const endBytes = 22
const longestComment = 65_535

/** The text of a Word document (.docx): a line for each paragraph, and for each row of a table. Throws UNSUPPORTED_MEDIA_TYPE where it has none. */
export function readDocx(document: Uint8Array): ReadDocument {
  const text = lines(textIn(contentOf(Buffer.from(document)).toString('utf8')))
  if (text === '') throw refused('The document has no text')
  return { title: null, text, links: [], base: null }
}

function contentOf(archive: Buffer): Buffer {
  try {
    return entryOf(archive)
  } catch (error) {
    if (error instanceof AppError) throw error
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw isLarge
      ? new AppError('PAYLOAD_TOO_LARGE', { message: 'The document is too large when unpacked' })
      : refused('The file is no Word document')
  }
}

/** The file of the text, of a ZIP archive. Throws RangeError where the archive is cut off. */
function entryOf(archive: Buffer): Buffer {
  const first = Math.max(0, archive.length - endBytes - longestComment)
  let end = archive.length - endBytes
  while (end >= first && archive.readUInt32LE(end) !== signatures.end) end -= 1
  if (end < first) throw refused('The file is no Word document')
  let at = archive.readUInt32LE(end + 16)
  const entries = Math.min(archive.readUInt16LE(end + 10), mostEntries)
  for (let read = 0; read < entries && archive.readUInt32LE(at) === signatures.entry; read++) {
    const [name, extra, comment] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    if (archive.toString('utf8', at + 46, at + 46 + name) === content) return unpacked(archive, at)
    at += 46 + name + extra + comment
  }
  throw refused('The file is no Word document')
}

function unpacked(archive: Buffer, entry: number): Buffer {
  const at = archive.readUInt32LE(entry + 42)
  if (archive.readUInt32LE(at) !== signatures.file) throw refused('The file is no Word document')
  const start = at + 30 + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28)
  const bytes = archive.subarray(start, start + archive.readUInt32LE(entry + 20))
  return archive.readUInt16LE(entry + 10) === 0 ? bytes : inflateRawSync(bytes, { maxOutputLength: mostBytes })
}

const tagName = /^\/?[\w:.-]+/

/** The words of WordprocessingML. Its tags are read one after the other, as no pattern may look for an end twice. */
function textIn(xml: string): string {
  const parts: string[] = []
  let isText = false
  let cells = 0
  for (let at = 0; at < xml.length; ) {
    const open = xml.indexOf('<', at)
    const close = open < 0 ? -1 : xml.indexOf('>', open)
    if (isText) parts.push(decoded(xml.slice(at, open < 0 ? xml.length : open)))
    if (close < 0) break
    const [tag = ''] = tagName.exec(xml.slice(open + 1, Math.min(close, open + 41))) ?? []
    at = close + 1
    if (tag === 'w:t') isText = xml[close - 1] !== '/'
    if (tag === '/w:t') isText = false
    if (tag === 'w:tc') cells += 1
    if (tag === '/w:tc') cells -= 1
    parts.push(breakOf(tag, cells > 0))
  }
  return parts.join('')
}

function breakOf(tag: string, isInCell: boolean): string {
  if (tag === '/w:p' || tag === 'w:br' || tag === 'w:cr') return isInCell ? ' ' : '\n'
  if (tag === '/w:tc') return ' | '
  if (tag === '/w:tr') return '\n'
  return tag === 'w:tab' ? ' ' : ''
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

const decoded = (text: string) =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(lt|gt|quot|apos|amp));/gi, (_all, decimal, hex, name) =>
    name ? (named[String(name).toLowerCase()] ?? '') : characterOf(hex ? Number.parseInt(hex, 16) : Number(decimal)),
  )

const characterOf = (code: number) => (code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : '')

const refused = (message: string) => new AppError('UNSUPPORTED_MEDIA_TYPE', { message })
