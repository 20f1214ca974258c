import { type CompileContext, type Extension, fromMarkdown } from 'mdast-util-from-markdown'
import { gfmStrikethroughFromMarkdown } from 'mdast-util-gfm-strikethrough'
import { gfmAutolinkLiteral } from 'micromark-extension-gfm-autolink-literal'
import { gfmStrikethrough } from 'micromark-extension-gfm-strikethrough'
import { decodeString } from 'micromark-util-decode-string'
import { withPlainNames } from './room-agents.ts'
import { isWebAddress } from './web-address.ts'

type Nodes = Parameters<CompileContext['enter']>[0]
type Root = ReturnType<typeof fromMarkdown>
type Link = Extract<Nodes, { type: 'link' }>

/** Constructs of Markdown that are unsafe or useless in a chat; they are shown as written. */
const unread = [
  'htmlFlow',
  'htmlText',
  'labelStartImage',
  'definition',
  'headingAtx',
  'setextUnderline',
  'thematicBreak',
  'codeIndented',
  'characterReference',
  'wwwAutolink',
  'emailAutolink',
]
/** A text that is read as a document has headings, too. */
const ofDocuments = ['headingAtx', 'thematicBreak']

/** The deepest nesting that is drawn; what is deeper is shown as written. */
export const deepestDrawn = 12
/** A text with more signs that a parser looks at is shown as written. */
const mostMarks = 500
const mostLines = 500
const mostBlocks = 7
const signs = /[*_~`[\]<>&\\]|(?<=^|[\s>])(?:[-+]|\d{1,9}[.)])(?=\s)/g
const manyBlocks = new RegExp(`^(?:>|[-+*]|\\d{1,9}[.)]){${mostBlocks},}`, 'm')

/** How many signs a parser has to look at; null where the text is shown as written. */
export function marksIn(text: string): number | null {
  const marks = text.match(signs)?.length ?? 0
  const isLong = marks > mostMarks || (text.match(/\n/g)?.length ?? 0) > mostLines
  return isLong || manyBlocks.test(text.replace(/[^\S\n]/g, '')) ? null : marks
}

const nesting = /\n|[[\]]|[*_~]+|^[ \t]*(?:(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])[ \t]*)+/gm

/** How deep constructs of Markdown stand in each other at most, also where they are never closed. Takes linear time. */
export function nestingOf(text: string): number {
  let [brackets, emphasis, deepest] = [0, 0, 0]
  for (const { 0: sign, index } of text.matchAll(nesting)) {
    const first = sign.trimStart().charAt(0)
    // Sentences and code leave signs open on many lines.
    if (first === '') emphasis = 0
    else if (first === '[') brackets += 1
    else if (first === ']') brackets = Math.max(0, brackets - 1)
    else if (/^[*_~]+$/.test(sign)) {
      const opens = /\S/.test(text.charAt(index + sign.length))
      const closes = /\S/.test(text.charAt(index - 1))
      if (opens !== closes) emphasis = Math.max(0, emphasis + (opens ? sign.length : -sign.length))
    } else deepest = Math.max(deepest, sign.match(/[^ \t\d]/g)?.length ?? 0)
    deepest = Math.max(deepest, brackets, emphasis)
  }
  return deepest
}

const literalAutolinks: Extension = {
  enter: {
    literalAutolink(token) {
      this.enter({ type: 'link', title: null, url: '', children: [] }, token)
    },
    literalAutolinkHttp(token) {
      this.config.enter.autolinkProtocol?.call(this, token)
    },
  },
  exit: {
    literalAutolink(token) {
      this.exit(token)
    },
    literalAutolinkHttp(token) {
      this.config.exit.autolinkProtocol?.call(this, token)
    },
  },
}

/** The tree of a message, or of a document: what the page draws and a verdict reads. What parsing costs is bounded by `marksIn`. */
export function markupOf(text: string, isDocument = false): Root {
  if (marksIn(text) === null) return plain(text)
  const disabled = isDocument ? unread.filter((name) => !ofDocuments.includes(name)) : unread
  const root = fromMarkdown(text, {
    extensions: [gfmStrikethrough({ singleTilde: false }), gfmAutolinkLiteral(), { disable: { null: disabled } }],
    mdastExtensions: [gfmStrikethroughFromMarkdown(), literalAutolinks],
  })
  withBrackets(root, text)
  return root
}

/** An address in the text has the brackets that it opens, as those of GitHub have: `https://a.b/[x]`. The parser leaves out the last ones. */
function withBrackets(node: Nodes, source: string): void {
  if (!('children' in node)) return
  for (const [at, child] of node.children.entries()) {
    const next = node.children[at + 1]
    const words = 'children' in child ? child.children[0] : undefined
    withBrackets(child, source)
    if (child.type !== 'link' || words?.type !== 'text' || next?.type !== 'text') continue
    if (/^[[<]/.test(writtenOf(child, source))) continue
    const open = child.url.split('[').length - child.url.split(']').length
    const closing = /^\]*/.exec(next.value)?.[0].slice(0, Math.max(0, open)) ?? ''
    const ends = [child.position?.end, words.position?.end, next.position?.start]
    for (const end of ends)
      if (end) Object.assign(end, { offset: (end.offset ?? 0) + closing.length, column: end.column + closing.length })
    child.url += closing
    words.value += closing
    next.value = next.value.slice(closing.length)
  }
}

const plain = (value: string): Root => ({
  type: 'root',
  children: [{ type: 'paragraph', children: [{ type: 'text', value }] }],
})

/** A node as its text has it. */
export const writtenOf = (node: Nodes, source: string): string =>
  source.slice(node.position?.start.offset, node.position?.end.offset)

/** The target of a link on the page; null without `http://` or `https://`, as it is then shown as text. */
export function webAddressOf(link: Link, source: string): string | null {
  const written = writtenOf(link, source)
  const end = link.children.at(-1)?.position?.end.offset ?? (link.position?.start.offset ?? 0) + 1
  const target = written.startsWith('[') ? source.slice(end).replace(/^\]\(\s*/, '') : written
  return /^<?https?:\/\//i.test(target) && isWebAddress(link.url) ? link.url : null
}

/** What people read of a text once it is drawn. */
interface Drawn {
  /** The text without marks of Markdown, and without references and tags of HTML that other clients may draw. Each block is a line. */
  words: string
  /** The targets of its links, even of those shown as text. References of HTML are kept, and also decoded. */
  targets: readonly string[]
}

const marks = /[*_~`[\]<>&\\]/
const tag = /<(?:!--[^<>]*|[/?]?[a-z][a-z\d-]*(?:[\s/][^<>]*)?)>/gi

/** Null where nothing is drawn otherwise than it is written. */
export function drawnOf(written: string): Drawn | null {
  const source = withPlainNames(written)
  if (!marks.test(source)) return source === written ? null : { words: source, targets: [] }
  const targets: string[] = []
  const words = readOut(source, (link) => {
    targets.push(...new Set([link.url, decodeString(link.url)]))
    return false
  })
  return { words: decodeString(words.replace(tag, '')), targets }
}

const blockMarks = /^[^\S\n]*(?:[-+]|\d{1,9}[.)])\s/m
const marksOfDocuments = /^[^\S\n]*(?:#{1,6}(?:\s|$)|[-*_][^\S\n]*[-*_]|\||.*\|[^\S\n]*:?-)/m
/** The row of a table that says it is one. */
const tableRule = /^[^\S\n]*\|?[^\S\n]*:?-+:?[^\S\n]*(?:\|[^\S\n]*:?-+:?[^\S\n]*)*\|?[^\S\n]*$/

/** A text as one plain line for previews and quotes, without marks of headings, rules and tables. */
export function lineOfWords(written: string): string {
  const source = withPlainNames(written)
  const isMarked = [marks, blockMarks, marksOfDocuments].some((pattern) => pattern.test(source))
  const words = isMarked ? readOut(source, (link) => webAddressOf(link, source) === null, true) : source
  const lines = words.split('\n')
  const isTable = lines.some((line) => line.includes('|') && tableRule.test(line))
  const shown = isTable ? lines.filter((line) => !tableRule.test(line)).map((line) => line.replace(/\|/g, ' ')) : lines
  return shown.join(' ').replace(/\s+/g, ' ').trim()
}

/** The words of the tree of a text, without those of its marks. `isAsWritten` is asked of each link. */
function readOut(source: string, isAsWritten: (link: Link) => boolean, isDocument = false): string {
  const wordsIn = (node: Nodes, depth: number): string => {
    if (depth > deepestDrawn) return writtenOf(node, source)
    if (node.type === 'link' && isAsWritten(node)) return writtenOf(node, source)
    if (node.type === 'break') return '\n'
    if (!('children' in node)) return 'value' in node ? node.value : ''
    const inside = node.children.map((child) => wordsIn(child, depth + 1))
    return inside.join(holdsBlocks.has(node.type) ? '\n' : '')
  }
  return wordsIn(markupOf(source, isDocument), 0)
}

const holdsBlocks: ReadonlySet<Nodes['type']> = new Set(['root', 'blockquote', 'list', 'listItem'])
