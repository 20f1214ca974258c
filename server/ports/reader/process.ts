import { readArticle } from './article.ts'
import { readHtml } from './html.ts'
import { readMarkdown } from './markdown.ts'
import { readPdf } from './pdf.ts'
import type { ReadAs, ReadDocument } from './port.ts'

// What is read here reaches no other machine.
for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'])
  Object.defineProperty(globalThis, name, { value: undefined })

const longest = 2_000_000

process.on('disconnect', () => process.exit())
process.on('message', ({ as, document }: { as: ReadAs; document: Uint8Array | string }) => {
  void Promise.resolve()
    .then(() => read(as, document))
    .then((found) => ({ ...found, text: withoutBlobs(found.text.slice(0, longest)) }))
    .catch(() => null)
    .then((found) => process.send?.(found))
})
process.send?.('ready')

function read(as: ReadAs, document: Uint8Array | string): ReadDocument | Promise<ReadDocument> {
  if (as === 'pdf') return readPdf(typeof document === 'string' ? Buffer.from(document) : document)
  const text = typeof document === 'string' ? document : new TextDecoder().decode(document)
  if (as === 'markdown') return readMarkdown(text)
  if (as === 'text') return { title: null, text, links: [], base: null }
  return as === 'article' ? readArticle(text) : readHtml(text)
}

const withoutBlobs = (text: string) =>
  text.replace(/data:[\w/+.-]{1,80};base64,[\w+/=]+|[\w+/]{400,}={0,2}/g, '').replace(/[ \t]+/g, ' ')
