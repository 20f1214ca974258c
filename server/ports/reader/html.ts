import { Parser } from 'htmlparser2'
import { gridsInto } from './grids.ts'
import type { ReadDocument } from './port.ts'
import { line, type Part, textOf } from './text.ts'

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
export function readHtml(html: string): ReadDocument {
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
