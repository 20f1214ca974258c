import { Parser } from 'htmlparser2'
import type { ReadDocument } from './port.ts'

const withoutText = new Set(
  'script style noscript template svg math iframe object canvas audio video select button nav head'.split(' '),
)
const withinLines = new Set(
  'a abbr b bdi bdo cite code em i kbd mark q s small span strong sub sup time u var'.split(' '),
)
const mostLinks = 1_000
const longestTitle = 300

/** The text of HTML, as a stream of tags: neither depth nor the number of attributes costs more than its bytes. */
export function readHtml(html: string): ReadDocument {
  const text: string[] = []
  const title: string[] = []
  const links: string[] = []
  let base: string | null = null
  let inTitle = false
  /** The element whose text is left out, and how deep we are in others of its name. */
  let skipped = ''
  let depth = 0

  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'a' && attributes.href && links.length < mostLinks) links.push(attributes.href)
      if (name === 'base' && attributes.href) base ??= attributes.href
      if (name === 'title' && title.length === 0) inTitle = true
      if (depth > 0) depth += name === skipped ? 1 : 0
      else if (withoutText.has(name)) [skipped, depth] = [name, 1]
      else if (!withinLines.has(name)) text.push('\n')
    },
    ontext(data) {
      if (inTitle) title.push(data)
      else if (depth === 0) text.push(data)
    },
    onclosetag(name) {
      if (name === 'title') inTitle = false
      if (depth > 0) depth -= name === skipped ? 1 : 0
      else if (!withinLines.has(name)) text.push('\n')
    },
  })
  parser.end(html)
  return {
    title:
      line(title.join(''))
        .slice(0, longestTitle)
        .replace(/[\ud800-\udbff]$/, '') || null,
    text: lines(text.join('')),
    links,
    base,
  }
}

/** Without lines that are empty, and with single spaces. */
export const lines = (text: string): string => text.split('\n').map(line).filter(Boolean).join('\n')

export const line = (text: string): string => text.replace(/\s+/g, ' ').trim()
