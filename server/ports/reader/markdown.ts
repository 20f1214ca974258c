import type { ReadDocument } from './port.ts'

const mostLinks = 1_000

/** Markdown as text: what is for the eye alone is left out. */
export function readMarkdown(markdown: string): ReadDocument {
  const text = markdown
    .replace(/^---\n[\s\S]{0,5000}?\n---\n/, '')
    .replace(/!?\[([^\]\n]{0,300})\]\([^)\s]{0,2000}[^)\n]{0,200}\)/g, '$1')
    .replace(/<\/?[a-z][^<>\n]{0,500}>/gi, '')
  const links = [...markdown.matchAll(/\]\(<?([^)\s>]{1,500})/g)].map(([, href = '']) => href)
  const title = /^#[ \t]+(.{1,200})$/m.exec(markdown)?.[1]?.trim() ?? null
  return { title, text: withoutComments(text), links: links.slice(0, mostLinks), base: null }
}

const withoutComments = (text: string) =>
  text
    .split('<!--')
    .map((part, at) => (at === 0 ? part : part.includes('-->') ? part.slice(part.indexOf('-->') + 3) : ''))
    .join('')
