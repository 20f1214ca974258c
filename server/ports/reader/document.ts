import { readApi } from './api.ts'
import { readArticle } from './article.ts'
import { readDocx } from './docx.ts'
import { decodedText } from './encoding.ts'
import { readHtml } from './html.ts'
import { readMarkdown } from './markdown.ts'
import { readPdf } from './pdf.ts'
import type { DeclaredType, ReadAs, ReadDocument } from './port.ts'

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
