import { fileURLToPath } from 'node:url'
import { getDocumentProxy } from 'unpdf'
import { AppError } from '#shared/errors'
import type { ReadDocument } from './port.ts'
import { lines } from './text.ts'
import { type Item, linesOf } from './visual-lines.ts'

const mostPages = 300
const isBuilt = !import.meta.url.endsWith('.ts')
/** How fonts that are in no PDF number the characters of Chinese, Japanese and Korean; `scripts/build.mjs` puts them there. */
const characterMaps = new URL(isBuilt ? './cmaps/' : '../../../node_modules/pdfjs-dist/cmaps/', import.meta.url)

/** The text of a PDF. Fonts, images and what it would run are left alone. Throws UNSUPPORTED_MEDIA_TYPE where it has none, and says why. */
export async function readPdf(bytes: Uint8Array): Promise<ReadDocument> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), {
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    cMapUrl: fileURLToPath(characterMaps),
    cMapPacked: true,
    verbosity: 0,
  }).catch((error: unknown) => {
    throw error instanceof Error && error.name === 'PasswordException' ? refused('The PDF asks for a password') : error
  })
  if (pdf.numPages > mostPages) throw refused(`The PDF has more than ${mostPages} pages`)
  const pages: string[] = []
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    pages.push(linesOf((items as readonly (Item | object)[]).filter((item) => 'str' in item)))
    page.cleanup()
  }
  const text = lines(pages.join('\n'))
  if (text === '') throw refused('The PDF holds no text, only pictures of it')
  const { info } = await pdf.getMetadata()
  const { Title: title } = info as { Title?: unknown }
  const named = typeof title === 'string' ? title.trim() : ''
  return { title: named || null, text, links: [], base: null }
}

const refused = (message: string) => new AppError('UNSUPPORTED_MEDIA_TYPE', { message })
