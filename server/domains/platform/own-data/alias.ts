import { randomBytes } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import {
  type ErasureLine,
  erasureHash,
  erasuresFileIn,
  newestErasures,
  readErasures,
  writeErasures,
} from '#server/kernel/erasure-list'
import { sealErased } from '#server/log/index'
import type { Fact, InMemory, RoomKey, Row } from '#server/log/types'
import { upsert } from '#server/ports/database/port'
import type { MessagesOfErased } from '#shared/api/platform/own-data'
import { isSameAccount } from '#shared/kit/accounts'
import { deletedName, deletedPrefix } from '#shared/kit/person-name'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { type ErasedAccountHash, ErasedAccountHashes } from './model.ts'

/** An account that is erased, and the alias that replaces it in rows that stay for others. */
export interface ErasedAccount {
  account: string
  alias: string
  /** Its messages stay, or are removed with what others quote of them. */
  messages: MessagesOfErased
}

/** As long as a wallet address, so that the places of mentions in a text stay right. */
export const newAlias = (): string => deletedPrefix + randomBytes(17).toString('hex')

/** True for a conversation of two with this account. Both addresses are needed to read its sealed messages. */
export const isBetween = (room: unknown, account: string): boolean => {
  if (typeof room !== 'string') return false
  const { type, id } = roomOfKey(room.split('|')[0] ?? '')
  return isBetweenTwo(type) && peersOf(id).includes(account)
}

type Content = { [name: string]: unknown }
const isContent = (value: unknown): value is Content =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Finds an account in a text, also in lower case, as keys of files have it. Longer words and the names of conversations of two do not match. */
function patternOf(account: string): RegExp {
  const word = account.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\w~])${word}(?![\\w~])`, 'gi')
}

/** Replaces the account by its alias in all texts of a value. A value without it is returned unchanged. */
export function withAlias<Value>(value: Value, erased: ErasedAccount): Value
export function withAlias(value: unknown, { account, alias }: ErasedAccount): unknown {
  const pattern = patternOf(account)
  return renamed(value, (text) => text.replace(pattern, alias))
}

function renamed(value: unknown, rename: (text: string) => string): unknown {
  if (typeof value === 'string') return rename(value)
  if (Array.isArray(value)) {
    const next = value.map((one) => renamed(one, rename))
    return next.every((one, at) => one === value[at]) ? value : next
  }
  if (!isContent(value)) return value
  const entries = Object.entries(value)
  const next = entries.map(([name, one]) => [rename(name), renamed(one, rename)] as const)
  const isSame = next.every(([name, one], at) => name === entries[at]?.[0] && one === entries[at]?.[1])
  return isSame ? value : Object.fromEntries(next)
}

/** A content without the name of the account, be it actor, target, or sender of a message in it. */
function withoutNames(content: Content, sender: unknown, target: unknown, erased: ErasedAccount): Content {
  const isErased = (id: unknown) => typeof id === 'string' && (isSameAccount(id, erased.account) || id === erased.alias)
  const next = { ...content }
  for (const [name, value] of Object.entries(content)) {
    if (name === 'target_name' && isErased(target)) next[name] = deletedName
    if (!isContent(value)) continue
    if (name === 'actor' && isErased(sender)) next[name] = { ...value, name: deletedName }
    const { body, sender: by } = value
    if (isContent(body)) next[name] = { ...value, body: withoutNames(body, by, null, erased) }
    const isTakenBack = name === 'reply_to' && erased.messages === 'erase' && isErased(value.sender_address)
    if (isTakenBack) next[name] = { ...value, content: '' }
  }
  return next
}

const isAlike = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** A row of the log without the account; the very same row where it says nothing of it. */
export function rowWithout(row: Row, erased: ErasedAccount): Row {
  const body = withoutNames(row.body, row.sender, row.target, erased) as Row['body']
  const { sender, target, cid, reason } = row
  const next = isBetween(row.room, erased.account)
    ? { ...row, body }
    : { ...row, ...withAlias({ sender, target, cid, reason, body }, erased) }
  return isAlike(next, row) ? row : sealErased(next)
}

/** The same for what a node has in memory. Facts about the account are loaded anew. */
export const inMemory = (erased: ErasedAccount): InMemory => ({
  row: (row) => rowWithout(row, erased),
  fact(key: string, value, room: RoomKey) {
    if (key.includes(erased.account)) return null
    const isMessage = isContent(value) && isContent(value.body)
    const next = isMessage ? { ...value, body: withoutNames(value.body as Content, value.sender, null, erased) } : value
    return { value: (isBetween(room, erased.account) ? next : withAlias(next, erased)) as Fact }
  },
})

const saltBytes = 16

/** Notes an erased account in the database, and in the file beside the backups. */
export async function listErased(node: Node, { account, messages }: ErasedAccount, at: number): Promise<void> {
  const known = await ErasedAccountHashes.findOne({}).lean<ErasedAccountHash>()
  const salt = known?.salt ?? randomBytes(saltBytes).toString('base64url')
  await storeErasures([{ hash: erasureHash(salt, account), salt, at: new Date(at).toISOString(), messages }])
  // Where the file cannot be written now, it is completed later.
  await completeFile(node).catch((error: unknown) => node.logger.error({ error }, 'an erasure is not in the file yet'))
}

export async function storeErasures(lines: readonly ErasureLine[]): Promise<void> {
  for (const { hash, at, ...line } of newestErasures(lines))
    await upsert(() =>
      ErasedAccountHashes.updateOne({ _id: hash }, { $set: { ...line, at: new Date(at) } }, { upsert: true }),
    )
}

/** The erasures in the file that the database lacks, because an older state of it was restored. */
export async function lackingErasures(node: Node): Promise<ErasureLine[]> {
  const { filed, stored } = await bothLists(node)
  return without(filed, stored)
}

/** Writes the erasures into the file that it lacks, because other nodes noted them. */
export async function completeFile(node: Node): Promise<void> {
  const { filed, stored } = await bothLists(node)
  if (without(stored, filed).length > 0) await writeErasures(fileOf(node), newestErasures([...filed, ...stored]))
}

const fileOf = ({ settings }: Node): string => erasuresFileIn(settings.dataDirectory)

async function bothLists(node: Node): Promise<{ filed: ErasureLine[]; stored: ErasureLine[] }> {
  // In this order, as each line is in the database before it is in the file.
  const filed = (await readErasures(fileOf(node))) ?? []
  const stored = await ErasedAccountHashes.find({}).lean<ErasedAccountHash[]>()
  return {
    filed,
    stored: stored.map(({ _id: hash, salt, at, messages }) => ({ hash, salt, at: at.toISOString(), messages })),
  }
}

function without(lines: readonly ErasureLine[], others: readonly ErasureLine[]): ErasureLine[] {
  const times = new Map(others.map(({ hash, at }) => [hash, at]))
  return lines.filter(({ hash, at }) => (times.get(hash) ?? '') < at)
}
