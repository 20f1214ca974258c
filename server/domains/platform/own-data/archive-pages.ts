import type { z } from 'zod'
import { type Marker, readMarker } from '#server/domains/moderation/verdict/markers'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { PollFact } from '#server/domains/rooms/events/message'
import type { Node } from '#server/kernel/context'
import type { Message } from '#shared/api/rooms/message'
import { isInClear } from '#shared/kit/clear-types'
import { shortened } from '#shared/kit/person-name'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}article{margin:1rem 0}time,.from{color:#666}p{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}img{max-width:100%}table{border-collapse:collapse;margin:1rem 0;width:100%}th,td{text-align:start;vertical-align:top;padding:.1rem .5rem;border-bottom:1px solid #ddd;overflow-wrap:anywhere}th{width:min(14rem,30%);font-weight:normal;color:#666;overflow-wrap:break-word}table table{margin:0}'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML. */
const escapedHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** The head of a page. Its policy forbids scripts and requests to other sites. */
const headOf = (title: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:"><title>${escapedHtml(title)}</title><style>${style}</style><h1 dir="auto">${escapedHtml(title)}</h1>\n`

/** The head of the page of a part. */
export const pageHead = (name: string): string =>
  `${headOf(name)}<p><a href="../index.html">All of the archive</a></p>\n`

/** The name of a part or field in words. */
export function titleOf(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .trim()
    .toLowerCase()
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** What common fields are called. The name of any other field is made into words. */
const labels = new Map([
  ['user_address', 'Account'],
  ['wallet_address', 'Account'],
  ['owner_address', 'Owner'],
  ['creator_address', 'Creator'],
  ['sender_address', 'Sender'],
  ['from_address', 'From'],
  ['to_address', 'To'],
  ['ip_address', 'IP address'],
  ['display_name', 'Name'],
  ['avatar_url', 'Picture'],
  ['icon_url', 'Picture'],
  ['created_at', 'Created'],
  ['updated_at', 'Changed'],
  ['joined_at', 'Joined'],
  ['started_at', 'Started'],
  ['ended_at', 'Ended'],
  ['finished_at', 'Finished'],
  ['expires_at', 'Expires'],
  ['last_used_at', 'Last used'],
  ['last_active_at', 'Last active'],
])
const labelOf = (field: string): string => labels.get(field) ?? titleOf(field)

export const headingOf = (name: string): string => `<h2>${escapedHtml(titleOf(name))}</h2>\n`

/** The present name of an account, or what else it is called. */
export type NameOf = (account: string, otherwise?: string) => Promise<string>

export const namesFor =
  (node: Node): NameOf =>
  async (account, otherwise = account) => {
    const name = (await profilesOf(node, [account])).get(account)?.name ?? otherwise
    return name === shortened(account) ? otherwise : name
  }

const formed = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/** A time in words; without scripts the zone of the reader is not known. */
function timeAsPage(iso: string): string {
  return `<time datetime="${escapedHtml(iso)}">${escapedHtml(formed.format(new Date(iso)))} UTC</time>`
}

/** The poll of a message, by which its votes can be read. */
export const ArchivedPoll = PollFact.pick({
  poll_id: true,
  question: true,
  options: true,
  allows_multiple: true,
  ends_at: true,
  is_anonymous: true,
  is_closed: true,
})
export type ArchivedPoll = z.infer<typeof ArchivedPoll>

interface Shown {
  /** The present name of the sender. */
  sender: string
  isSealed: boolean
  /** The path of an own file in the archive. */
  fileOf(url: string): string | null
}

export function messageAsPage(message: Message & { poll?: ArchivedPoll }, { sender, isSealed, fileOf }: Shown): string {
  const files = message.attachments.flatMap(({ url }) => fileOf(url) ?? [])
  const named = [...message.content.matchAll(/https?:\/\/[^\s)\]"'<>]+/g)].flatMap(([url]) => fileOf(url) ?? [])
  const shown = [...new Set([...files, ...named])].map(fileAsPage).join('')
  const edited = message.is_edited && !message.is_deleted ? ' <span class="from">edited</span>' : ''
  const isClosed = isSealed && !message.is_deleted && !isInClear(message.message_type)
  const text = isClosed ? note('Encrypted') : textAsPage(message, shown !== '')
  return `<article><span class="from" dir="auto">${escapedHtml(sender)}</span> ${timeAsPage(message.created_at)}${edited}${text}${shown}</article>\n`
}

const note = (text: string): string => `<p><i>${escapedHtml(text)}</i></p>`

const mediaNames: Readonly<Record<Marker['content'], string>> = {
  photo: 'Photo',
  gif: 'GIF',
  pixel_art: 'Pixel art',
  voice: 'Voice message',
  file: 'File',
  location: 'Location',
  poll: 'Poll',
}

function textAsPage({ content, message_type, is_deleted, poll }: Message & { poll?: ArchivedPoll }, hasFile: boolean) {
  if (is_deleted) return note('Deleted')
  if (poll) {
    const options = poll.options.map((option) => `<li dir="auto">${escapedHtml(option)}</li>`)
    return `<p dir="auto">${escapedHtml(poll.question)}</p><ul>${options.join('')}</ul>`
  }
  const marker = readMarker(message_type, content)
  if (marker === null) return `<p dir="auto">${escapedHtml(content)}</p>`
  if (hasFile) return ''
  return `<p dir="auto">${mediaNames[marker.content]}: ${escapedHtml(marker.rest ?? '')}</p>`
}

function fileAsPage(path: string): string {
  const address = escapedHtml(`../${path.split('/').map(encodeURIComponent).join('/')}`)
  const isPicture = /\.(png|jpe?g|gif|webp)$/.test(path)
  return isPicture
    ? `<img src="${address}" alt="" loading="lazy">`
    : `<p><a href="${address}" dir="auto">${escapedHtml(path.split('/').at(-1) ?? path)}</a></p>`
}

/** Fields that say nothing to a reader. */
const unread = new Set(['__v', 'id', 'applied_seq'])
const randomId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
/** Ids of accounts: the address of a wallet, or the kind of sign-in and an id. */
const accountId = /^(0x[\da-f]{40}|[a-z]+:[\w-]{8,})$/
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** A row as a table of its fields, without empty ones. */
export async function rowAsPage(row: object, nameOf: NameOf): Promise<string> {
  const lines: string[] = []
  for (const [field, value] of Object.entries(row)) {
    if (unread.has(field) || isEmptyValue(value) || (field === '_id' && randomId.test(String(value)))) continue
    lines.push(
      `<tr><th>${escapedHtml(labelOf(field))}</th><td dir="auto">${await valueAsPage(value, nameOf)}</td></tr>`,
    )
  }
  return `<table>${lines.join('')}</table>\n`
}

function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && !(value instanceof Date) && Object.keys(value).length === 0
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

async function valueAsPage(value: unknown, nameOf: NameOf): Promise<string> {
  if (value instanceof Date) return timeAsPage(value.toISOString())
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'object' && typeof value !== 'string') return escapedHtml(String(value))
  if (Array.isArray(value)) return (await Promise.all(value.map((one) => valueAsPage(one, nameOf)))).join(', ')
  if (isPlain(value)) return rowAsPage(value, nameOf)
  if (typeof value === 'object') return escapedHtml(JSON.stringify(value))
  if (moment.test(value) && !Number.isNaN(Date.parse(value))) return timeAsPage(value)
  if (!accountId.test(value)) return escapedHtml(value)
  const name = await nameOf(value)
  return escapedHtml(name === value ? value : `${name} (${value})`)
}

/** A part of the archive with its own page. */
export interface ListedPart {
  name: string
  /** Its path without an ending. */
  place: string
  rows: number
}

interface Contents {
  account: string
  madeAt: string
  conversations: readonly { name: string; page: string; messages: number }[]
  data: readonly ListedPart[]
  files: number
}

/** The index page. Parts without entries are not in it. */
export function indexPage({ account, madeAt, conversations, data, files }: Contents): string {
  const rooms = conversations
    .filter(({ messages }) => messages > 0)
    .map(
      ({ name, page, messages }) =>
        `<li><a href="${escapedHtml(page)}" dir="auto">${escapedHtml(name)}</a> (${messages})</li>`,
    )
  const rows = data
    .filter(({ rows }) => rows > 0)
    .map(
      ({ name, place, rows }) =>
        `<li><a href="${escapedHtml(place)}.html">${escapedHtml(name)}</a> (${rows}), as <a href="${escapedHtml(place)}.json">JSON</a></li>`,
    )
  const listOf = (title: string, items: readonly string[]) =>
    items.length === 0 ? '' : `<h2>${title}</h2><ul>${items.join('\n')}</ul>`
  return [
    headOf('Your data'),
    `<p>Account ${escapedHtml(account)}, as it was on ${timeAsPage(madeAt)}. The numbers are how many entries there are.</p>`,
    listOf('Messages', rooms),
    listOf('Everything else', rows),
    `<p>${files > 0 ? `Files: ${files}. ` : ''}<a href="manifest.json">manifest.json</a> has the checksum of each part.</p>\n`,
  ].join('\n')
}
