import type { Message } from '#shared/api/message'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}article{margin:1rem 0}time,.from{color:#666}p{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}img{max-width:100%}'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** What people wrote, as text of a page. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? '')

/** The beginning of a page. Nothing in it can run, or ask another site. */
const headOf = (title: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:"><title>${escaped(title)}</title><style>${style}</style><h1>${escaped(title)}</h1>\n`

/** A conversation as a page, piece by piece. `fileOf` names the file of the archive that an address is. */
export const conversationHead = (name: string): string =>
  `${headOf(name)}<p><a href="../index.html">All of the archive</a></p>\n`

export function messageAsPage(message: Message, fileOf: (url: string) => string | null): string {
  const files = message.attachments.flatMap(({ url }) => fileOf(url) ?? [])
  const named = [...message.content.matchAll(/https?:\/\/[^\s)\]"'<>]+/g)].flatMap(([url]) => fileOf(url) ?? [])
  const shown = [...new Set([...files, ...named])].map(fileAsPage).join('')
  const text = message.is_deleted ? '<p><i>Deleted</i></p>' : `<p dir="auto">${escaped(message.content)}</p>`
  return `<article><span class="from">${escaped(message.sender.name)}</span> <time>${escaped(message.created_at)}</time>${text}${shown}</article>\n`
}

function fileAsPage(path: string): string {
  const address = escaped(`../${path.split('/').map(encodeURIComponent).join('/')}`)
  const isPicture = /\.(png|jpe?g|gif|webp)$/.test(path)
  return isPicture ? `<img src="${address}" alt="" loading="lazy">` : `<p><a href="${address}">${escaped(path)}</a></p>`
}

interface Contents {
  account: string
  madeAt: string
  conversations: readonly { name: string; page: string; messages: number }[]
  data: readonly { path: string; rows: number }[]
  files: number
}

/** The page that a person opens first. */
export function indexPage({ account, madeAt, conversations, data, files }: Contents): string {
  const rooms = conversations.map(
    ({ name, page, messages }) => `<li><a href="${escaped(page)}" dir="auto">${escaped(name)}</a> (${messages})</li>`,
  )
  const rows = data.map(({ path, rows }) => `<li><a href="${escaped(path)}">${escaped(path)}</a> (${rows})</li>`)
  return [
    headOf('Your data'),
    `<p>Account ${escaped(account)}, as it was on ${escaped(madeAt)}. The numbers are how many entries there are.</p>`,
    `<h2>Messages</h2><ul>${rooms.join('\n')}</ul>`,
    `<h2>Everything else</h2><ul>${rows.join('\n')}</ul>`,
    `<p>Files: ${files}. <a href="manifest.json">manifest.json</a> has the checksum of each part.</p>\n`,
  ].join('\n')
}
