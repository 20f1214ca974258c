import { readArticle } from './article.ts'
import { readHtml } from './html.ts'
import { readMarkdown } from './markdown.ts'
import { readPdf } from './pdf.ts'
import type { ReadAs, ReadDocument } from './port.ts'

export function readAs(as: ReadAs, document: Uint8Array | string): ReadDocument | Promise<ReadDocument> {
  if (as === 'pdf') return readPdf(typeof document === 'string' ? Buffer.from(document) : document)
  const text = typeof document === 'string' ? document : new TextDecoder().decode(document)
  if (as === 'markdown') return readMarkdown(text)
  if (as === 'text') return { title: null, text, links: [], base: null }
  return as === 'article' ? readArticle(text) : readHtml(text)
}
