import { inflateRawSync } from 'node:zlib'
import { Readability } from '@mozilla/readability'
import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import { z } from 'zod'
import { AppError } from '#shared/errors'
import { decodedText } from './encoding.ts'
import { gridsInto, line, lines, type Part, textOf } from './grids.ts'
import { readPdf } from './pdf.ts'
import type { DeclaredType, ReadAs, ReadDocument } from './port.ts'

const Introspected = z.object({
  data: z.object({
    __schema: z.object({
      types: z.array(
        z.object({
          kind: z.string(),
          name: z.string(),
          fields: z
            .array(z.object({ name: z.string(), args: z.array(z.object({ name: z.string() })).nullish() }))
            .nullish(),
        }),
      ),
    }),
  }),
})

function graphqlOf(answer: unknown): string | null {
  const read = Introspected.safeParse(answer).data
  if (!read) return null
  const types = read.data.__schema.types.filter(({ kind, name }) => kind === 'OBJECT' && !name.startsWith('__'))
  const lines = types.map(({ name, fields }) => {
    const names = (fields ?? []).map((field) => {
      const given = (field.args ?? []).map((argument) => argument.name).join(', ')
      return given ? `${field.name}(${given})` : field.name
    })
    return `${name} { ${names.join(' ')} }`
  })
  return lines.join('\n')
}

const methods = ['get', 'post', 'put', 'patch', 'delete']
const Document = z.union([z.object({ openapi: z.string() }), z.object({ swagger: z.string() })])
const Paths = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

function openapiOf(answer: unknown): string | null {
  if (!Document.safeParse(answer).success) return null
  const paths = Object.entries(Paths.safeParse(answer).data?.paths ?? {})
  const lines = paths.flatMap(([path, item]) =>
    methods.flatMap((method) => {
      if (!(method in item)) return []
      const summary = z.object({ summary: z.string() }).safeParse(item[method]).data?.summary ?? ''
      return `${method.toUpperCase()} ${path} ${summary}`.trim()
    }),
  )
  return lines.join('\n')
}

/** The operations of an API by its introspection or its document; the title is its kind. Throws for other texts. */
function readApi(text: string): ReadDocument {
  const answer: unknown = JSON.parse(text)
  const graphql = graphqlOf(answer)
  const schema = graphql ?? openapiOf(answer)
  if (schema === null) throw new Error('It describes no API')
  return { title: graphql === null ? 'openapi' : 'graphql', text: schema, links: [], base: null }
}

const withoutText = new Set(
  'script style noscript template svg math iframe object canvas audio video select button nav head'.split(' '),
)
const withinLines = new Set(
  'a abbr b bdi bdo cite code em i kbd mark q s small span strong sub sup time u var'.split(' '),
)
/** In which spaces and lines are as they are written. */
const asWritten = new Set(['pre', 'listing', 'xmp', 'textarea'])
const mostLinks = 1_000
const longestTitle = 300

/** Reads HTML as a stream of tags, so that depth and attributes cost no more than their bytes. */
function readHtml(html: string): ReadDocument {
  const parts: Part[] = []
  const grids = gridsInto(parts)
  const title: string[] = []
  const links: string[] = []
  let base: string | null = null
  let next: string | undefined
  let inTitle = false
  /** The element whose text is left out, and how deep we are in others of its name. */
  let skipped = ''
  let depth = 0
  /** How deep we are in what is kept as it is written, and what that is. */
  let kept = 0
  let code: string[] = []

  const breakLine = () => {
    if (kept === 0) grids.add('\n')
    else if (!code.at(-1)?.endsWith('\n')) code.push('\n')
  }
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'a' && attributes.href && links.length < mostLinks) links.push(attributes.href)
      if (/^(a|link)$/.test(name) && /(^|\s)next(\s|$)/i.test(attributes.rel ?? '')) next ??= attributes.href
      if (name === 'base' && attributes.href) base ??= attributes.href
      if (name === 'title' && title.length === 0) inTitle = true
      if (depth > 0) depth += name === skipped ? 1 : 0
      else if (withoutText.has(name)) [skipped, depth] = [name, 1]
      else if (asWritten.has(name)) {
        if (kept === 0) {
          code = []
          grids.add({ code })
        }
        kept += 1
      } else if (kept > 0) {
        if (name === 'br') code.push('\n')
        else if (!withinLines.has(name)) breakLine()
      } else if (!grids.open(name, attributes) && !withinLines.has(name)) grids.add('\n')
    },
    ontext(data) {
      if (inTitle) title.push(data)
      else if (depth > 0) return
      else if (kept > 0) code.push(data)
      else grids.add(data)
    },
    onclosetag(name) {
      if (name === 'title') inTitle = false
      if (depth > 0) depth -= name === skipped ? 1 : 0
      else if (asWritten.has(name)) kept = Math.max(0, kept - 1)
      else if (kept > 0) {
        if (name !== 'br' && !withinLines.has(name)) breakLine()
      } else if (!grids.close(name) && !withinLines.has(name)) grids.add('\n')
    },
  })
  parser.end(html)
  return {
    title:
      line(title.join(''))
        .slice(0, longestTitle)
        .replace(/[\ud800-\udbff]$/, '') || null,
    text: textOf(parts),
    links,
    base,
    ...(next !== undefined && { next }),
  }
}

const mostElements = 20_000

/** The article of a page, without what surrounds it; all of its text where none is found. */
function readArticle(html: string): ReadDocument {
  const page = readHtml(html)
  const { document } = parseHTML(html)
  const article = new Readability(document, { maxElemsToParse: mostElements }).parse()
  const { text } = readHtml(article?.content ?? '')
  return text === '' ? page : { ...page, title: line(article?.title ?? '') || page.title, text }
}

const mostBytes = 32 * 2 ** 20
const mostEntries = 10_000
const content = 'word/document.xml'

const signatures = { end: 0x06054b50, entry: 0x02014b50, file: 0x04034b50 }
const endBytes = 22
const longestComment = 65_535

/** The text of a Word document (.docx): a line for each paragraph, and for each row of a table. Throws UNSUPPORTED_MEDIA_TYPE where it has none. */
function readDocx(document: Uint8Array): ReadDocument {
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

const mostMarkdownLinks = 1_000

/** Markdown as text: what is for the eye alone is left out, but of code. */
function readMarkdown(markdown: string): ReadDocument {
  const text = blocksOf(markdown.replace(/^---\r?\n[\s\S]{0,5000}?\n---\r?\n/, ''))
    .map(({ isCode, rows }) => (isCode ? rows.join('\n') : proseOf(rows.join('\n'))))
    .join('\n')
  const links = [...markdown.matchAll(/\]\(<?([^)\s>]{1,500})/g)].map(([, href = '']) => href)
  const title = /^#[ \t]+(.{1,200})$/m.exec(markdown)?.[1]?.trim() ?? null
  return { title, text, links: links.slice(0, mostMarkdownLinks), base: null }
}

interface Block {
  isCode: boolean
  rows: string[]
}

/** Code is between fences of at least three marks; the closing fence is as long as the opening one. */
function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let fence = ''
  for (const row of markdown.split(/\r?\n/)) {
    const [, marks = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(row) ?? []
    const isCode = fence !== '' || marks !== ''
    const last = blocks.at(-1)
    if (last?.isCode === isCode) last.rows.push(row)
    else blocks.push({ isCode, rows: [row] })
    if (fence === '') fence = marks
    else if (marks.startsWith(fence) && row.trim() === marks) fence = ''
  }
  return blocks
}

const proseOf = (markdown: string): string =>
  withoutComments(
    markdown
      .replace(/!?\[([^\]\n]{0,300})\]\([^)\s]{0,2000}[^)\n]{0,200}\)/g, '$1')
      .replace(/<\/?[a-z][^<>\n]{0,500}>/gi, ''),
  ).replace(/(\S)[ \t]{2,}/g, '$1 ')

const withoutComments = (text: string) =>
  text
    .split('<!--')
    .map((part, at) => (at === 0 ? part : part.includes('-->') ? part.slice(part.indexOf('-->') + 3) : ''))
    .join('')

export async function readAs(as: ReadAs, document: Uint8Array | string, said: DeclaredType): Promise<ReadDocument> {
  if (as === 'pdf' || as === 'docx') {
    const bytes = typeof document === 'string' ? Buffer.from(document) : document
    return as === 'pdf' ? readPdf(bytes) : readDocx(bytes)
  }
  const text = typeof document === 'string' ? document : decodedText(document, said.type)
  if (as === 'api') return readApi(text)
  const kind = kindOf(as, text, said)
  if (kind === 'text') return { title: null, text, links: [], base: null }
  if (kind === 'markdown') return readMarkdown(text)
  return kind === 'article' ? readArticle(text) : readHtml(text)
}

type TextKind = Exclude<ReadAs, 'pdf' | 'docx' | 'api'>

/** The type of a requested page, by its header, path and beginning. */
function kindOf(as: TextKind, text: string, { type, path }: DeclaredType): TextKind {
  if (as === 'markdown' || as === 'text' || path === '') return as
  const kind = type.toLowerCase().split(';')[0]?.trim() ?? ''
  if (/markdown/.test(kind) || /\.(md|mdx|markdown)$/i.test(path)) return 'markdown'
  const isHtml = /html/.test(kind) || (!/^text\/plain|json|xml$/.test(kind) && /^\s*<(!doctype|html)/i.test(text))
  return isHtml ? as : 'text'
}
