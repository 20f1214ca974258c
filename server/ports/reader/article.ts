import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import { readHtml } from './html.ts'
import type { ReadDocument } from './port.ts'
import { line } from './text.ts'

const mostElements = 20_000

/** The article of a page, without what surrounds it; all of its text where none is found. */
export function readArticle(html: string): ReadDocument {
  const page = readHtml(html)
  const { document } = parseHTML(html)
  const article = new Readability(document, { maxElemsToParse: mostElements }).parse()
  const { text } = readHtml(article?.content ?? '')
  return text === '' ? page : { ...page, title: line(article?.title ?? '') || page.title, text }
}
