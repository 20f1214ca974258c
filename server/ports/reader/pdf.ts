import { extractText, getDocumentProxy } from 'unpdf'
import { lines } from './html.ts'
import type { ReadDocument } from './port.ts'

const mostPages = 300

/** The text of a PDF. Fonts, images and what it would run are left alone. */
export async function readPdf(bytes: Uint8Array): Promise<ReadDocument> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), {
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    verbosity: 0,
  })
  if (pdf.numPages > mostPages) throw new Error(`More than ${mostPages} pages`)
  const [{ text }, { info }] = await Promise.all([extractText(pdf), pdf.getMetadata()])
  const { Title: title } = info as { Title?: unknown }
  const named = typeof title === 'string' ? title.trim() : ''
  return { title: named || null, text: lines(text.join('\n')), links: [], base: null }
}
