import type { ReadDocument } from './port.ts'

const mostLinks = 1_000

/** Markdown as text: what is for the eye alone is left out, but of code. */
export function readMarkdown(markdown: string): ReadDocument {
  const text = blocksOf(markdown.replace(/^---\r?\n[\s\S]{0,5000}?\n---\r?\n/, ''))
    .map(({ isCode, rows }) => (isCode ? rows.join('\n') : proseOf(rows.join('\n'))))
    .join('\n')
  const links = [...markdown.matchAll(/\]\(<?([^)\s>]{1,500})/g)].map(([, href = '']) => href)
  const title = /^#[ \t]+(.{1,200})$/m.exec(markdown)?.[1]?.trim() ?? null
  return { title, text, links: links.slice(0, mostLinks), base: null }
}

interface Block {
  isCode: boolean
  rows: string[]
}

/** Code is between fences of at least three marks; the closing fence is as long as the opening one. */
function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let fence = ''
  for (const row of markdown.split(/\r?\n/)) {
    const [, marks = ''] = /^ {0,3}(`{3,}|~{3,})/.exec(row) ?? []
    const isCode = fence !== '' || marks !== ''
    const last = blocks.at(-1)
    if (last?.isCode === isCode) last.rows.push(row)
    else blocks.push({ isCode, rows: [row] })
    if (fence === '') fence = marks
    else if (marks.startsWith(fence) && row.trim() === marks) fence = ''
  }
  return blocks
}

const proseOf = (markdown: string): string =>
  withoutComments(
    markdown
      .replace(/!?\[([^\]\n]{0,300})\]\([^)\s]{0,2000}[^)\n]{0,200}\)/g, '$1')
      .replace(/<\/?[a-z][^<>\n]{0,500}>/gi, ''),
  ).replace(/(\S)[ \t]{2,}/g, '$1 ')

const withoutComments = (text: string) =>
  text
    .split('<!--')
    .map((part, at) => (at === 0 ? part : part.includes('-->') ? part.slice(part.indexOf('-->') + 3) : ''))
    .join('')
