import { fileURLToPath } from 'node:url'
import { getDocumentProxy } from 'unpdf'
import { AppError } from '#shared/errors'
import { lines } from './grids.ts'
import type { ReadDocument } from './port.ts'

/** A run of text, and its position on the page. */
interface Item {
  str: string
  dir: string
  transform: readonly unknown[]
  width: number
  height: number
  hasEOL: boolean
}

/** Arabic and Hebrew in the forms that they are drawn in. */
const drawnForms = /[\ufb1d-\ufdfd\ufe70-\ufefc]+/g

/** The lines of a page in the order in which they are read; within an item that is so already. */
function linesOf(items: readonly Item[]): string {
  const lines: Item[][] = [[]]
  for (const item of items) {
    const before = lines.at(-1)?.at(-1)
    if (before && !isBeside(before, item)) lines.push([])
    lines.at(-1)?.push(item)
    if (item.hasEOL) lines.push([])
  }
  const isPageFromRight = isMostlyFromRight(items)
  return lines
    .map((line) => inOrder(line, isPageFromRight).replace(drawnForms, (drawn) => drawn.normalize('NFKC')))
    .join('\n')
}

const isBeside = (one: Item, other: Item): boolean =>
  other.str === '' || Math.abs(placeOf(one, 5) - placeOf(other, 5)) <= Math.max(one.height, other.height) / 2

const placeOf = ({ transform }: Item, at: number): number => Number(transform[at])

/** Orders a line with right-to-left words by position, from the side that the line or its page has more of. */
function inOrder(line: readonly Item[], isPageFromRight: boolean): string {
  if (!line.some(isFromRight)) return joined(line)
  const seen = spaced(line.filter(({ str }) => str !== '').sort((one, other) => placeOf(one, 4) - placeOf(other, 4)))
  const baseIsRight = isPageFromRight || isMostlyFromRight(seen)
  const sides = sidesOf(seen, baseIsRight)
  const runs: { isRight: boolean; items: Item[] }[] = []
  for (const [at, item] of seen.entries()) {
    const isRight = sides[at] ?? baseIsRight
    const last = runs.at(-1)
    if (last?.isRight === isRight) last.items.push(item)
    else runs.push({ isRight, items: [item] })
  }
  const read = runs.map(({ isRight, items }) => joined(isRight ? items.toReversed() : items))
  return (baseIsRight ? read.reverse() : read).join('')
}

/** With a space where two stand apart. */
const spaced = (items: readonly Item[]): Item[] =>
  items.flatMap((item, at) => {
    const before = items[at - 1]
    const gap = before ? placeOf(item, 4) - placeOf(before, 4) - before.width : 0
    return gap > item.height / 5 ? [{ ...item, str: ' ', dir: 'ltr' }, item] : [item]
  })

function isMostlyFromRight(items: readonly Item[]): boolean {
  const lettersOf = (some: readonly Item[]) => some.reduce((sum, { str }) => sum + lettersIn(str), 0)
  const fromRight = lettersOf(items.filter(isFromRight))
  return fromRight > 0 && fromRight * 2 >= lettersOf(items)
}

/** Whether each item is read from the right. Signs and spaces follow equal neighbours, or else the line. */
function sidesOf(items: readonly Item[], baseIsRight: boolean): boolean[] {
  const own = items.map((item) => (isFromRight(item) ? true : lettersIn(item.str) > 0 ? false : null))
  const after = [...own]
  for (let at = after.length - 2; at >= 0; at--) after[at] ??= after[at + 1] ?? null
  let before: boolean | null = null
  return own.map((side, at) => {
    before = side ?? before
    return side ?? (before === after[at] ? before : null) ?? baseIsRight
  })
}

const isFromRight = ({ dir }: Item) => dir === 'rtl'
const lettersIn = (text: string): number => text.replace(/[^\p{L}\p{N}]+/gu, '').length
const joined = (items: readonly Item[]): string => items.map(({ str }) => str).join('')

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
