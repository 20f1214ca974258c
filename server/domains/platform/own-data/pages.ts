import type { Message } from '#shared/api/rooms/message'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}article{margin:1rem 0}time,.from{color:#666}p{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}img{max-width:100%}'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML. */
export const escapedHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** The head of a page. Its policy forbids scripts and requests to other sites. */
const headOf = (title: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:"><title>${escapedHtml(title)}</title><style>${style}</style><h1>${escapedHtml(title)}</h1>\n`

/** The head of the page of a conversation. */
export const conversationHead = (name: string): string =>
  `${headOf(name)}<p><a href="../index.html">All of the archive</a></p>\n`

export function messageAsPage(message: Message, fileOf: (url: string) => string | null): string {
  const files = message.attachments.flatMap(({ url }) => fileOf(url) ?? [])
  const named = [...message.content.matchAll(/https?:\/\/[^\s)\]"'<>]+/g)].flatMap(([url]) => fileOf(url) ?? [])
  const shown = [...new Set([...files, ...named])].map(fileAsPage).join('')
  const text = message.is_deleted ? '<p><i>Deleted</i></p>' : `<p dir="auto">${escapedHtml(message.content)}</p>`
  return `<article><span class="from">${escapedHtml(message.sender.name)}</span> <time>${escapedHtml(message.created_at)}</time>${text}${shown}</article>\n`
}

function fileAsPage(path: string): string {
  const address = escapedHtml(`../${path.split('/').map(encodeURIComponent).join('/')}`)
  const isPicture = /\.(png|jpe?g|gif|webp)$/.test(path)
  return isPicture
    ? `<img src="${address}" alt="" loading="lazy">`
    : `<p><a href="${address}">${escapedHtml(path)}</a></p>`
}

interface Contents {
  account: string
  madeAt: string
  conversations: readonly { name: string; page: string; messages: number }[]
  data: readonly { path: string; rows: number }[]
  files: number
}

/** The index page. */
export function indexPage({ account, madeAt, conversations, data, files }: Contents): string {
  const rooms = conversations.map(
    ({ name, page, messages }) =>
      `<li><a href="${escapedHtml(page)}" dir="auto">${escapedHtml(name)}</a> (${messages})</li>`,
  )
  const rows = data.map(
    ({ path, rows }) => `<li><a href="${escapedHtml(path)}">${escapedHtml(path)}</a> (${rows})</li>`,
  )
  return [
    headOf('Your data'),
    `<p>Account ${escapedHtml(account)}, as it was on ${escapedHtml(madeAt)}. The numbers are how many entries there are.</p>`,
    `<h2>Messages</h2><ul>${rooms.join('\n')}</ul>`,
    `<h2>Everything else</h2><ul>${rows.join('\n')}</ul>`,
    `<p>Files: ${files}. <a href="manifest.json">manifest.json</a> has the checksum of each part.</p>\n`,
  ].join('\n')
}
