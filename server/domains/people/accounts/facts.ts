import type { Role } from '#server/kernel/context'
import type { Fact, Row, View } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { type Account, Accounts } from './model.ts'

export const roleKey = (account: string) => `role:${account}`
export const suspensionKey = (account: string) => `suspension:${account}`

export const roleIn = (view: View, account: string): Role => asRole(view.global.get(roleKey(account)))
const asRole = (fact: Fact): Role => (fact === 'admin' || fact === 'super_admin' ? fact : 'user')

export interface Suspension {
  reason: string | null
  by: string
  at: number
}

export const suspensionIn = (view: View, account: string): Suspension | null =>
  view.global.get(suspensionKey(account)) as Suspension | null

export const suspendedAccounts = async (): Promise<string[]> =>
  (await Accounts.find({ is_banned: true }).select({ _id: 1 }).lean<Pick<Account, '_id'>[]>()).map(({ _id }) => _id)

export const suspendedAccountsAmong = async (accounts: readonly string[]): Promise<Set<string>> => {
  if (accounts.length === 0) return new Set()
  const suspended = { _id: { $in: accounts }, is_banned: true }
  const found = await Accounts.find(suspended).select({ _id: 1 }).lean<Pick<Account, '_id'>[]>()
  return new Set(found.map(({ _id }) => _id))
}

export const adminAccountsAmong = async (accounts: readonly string[]): Promise<Set<string>> => {
  if (accounts.length === 0) return new Set()
  const admins = { _id: { $in: accounts }, role: { $in: ['admin' as const, 'super_admin' as const] } }
  const found = await Accounts.find(admins).select({ _id: 1 }).lean<Pick<Account, '_id'>[]>()
  return new Set(found.map(({ _id }) => _id))
}

/** The account and kind of a fact; null for other facts. */
function readKey(key: string): { kind: 'role' | 'suspension'; account: string } | null {
  const [, kind, account] = /^(role|suspension):(.+)$/.exec(key) ?? []
  if (account === undefined) return null
  return { kind: kind === 'role' ? 'role' : 'suspension', account }
}

export async function loadAccountFacts(keys: readonly string[]): Promise<Map<string, { value: Fact; seq: number }>> {
  const read = keys.flatMap((key) => {
    const named = readKey(key)
    return named ? [{ key, ...named }] : []
  })
  if (read.length === 0) return new Map()
  const ids = [...new Set(read.map(({ account }) => account))]
  const accounts = new Map((await Accounts.find({ _id: { $in: ids } }).lean<Account[]>()).map((one) => [one._id, one]))
  return new Map(read.map(({ key, kind, account }) => [key, factOf(kind, accounts.get(account))]))
}

function factOf(kind: 'role' | 'suspension', account: Account | undefined): { value: Fact; seq: number } {
  if (!account) return { value: null, seq: 0 }
  if (kind === 'role') return { value: account.role_seq > 0 ? account.role : null, seq: account.role_seq }
  const { is_banned, ban_reason: reason, banned_by, banned_at, banned_seq: seq } = account
  return { value: is_banned ? { reason, by: banned_by ?? '', at: banned_at ?? 0 } : null, seq }
}

/** Writes the facts of rows into accounts, unless a later row was applied. */
export async function saveAccountFacts(changes: readonly { key: string; value: Fact; row: Row }[]): Promise<void> {
  for (const { key, value, row } of changes) {
    const named = readKey(key)
    if (!named) continue
    const { kind, account } = named
    if (kind === 'role') await writeOnce(account, 'role_seq', row, { role: asRole(value) })
    else await writeOnce(account, 'banned_seq', row, suspensionFields(value as Suspension | null))
  }
}

const suspensionFields = (suspension: Suspension | null): Partial<Account> => ({
  is_banned: suspension !== null,
  ban_reason: suspension?.reason ?? null,
  banned_by: suspension?.by ?? null,
  banned_at: suspension?.at ?? null,
})

async function writeOnce(account: string, mark: 'role_seq' | 'banned_seq', row: Row, fields: Partial<Account>) {
  const unseen = { _id: account, [mark]: { $lt: row.seq } }
  const time = new Date(row.at)
  const change = { $set: { ...fields, [mark]: row.seq, updated_at: time }, $setOnInsert: { created_at: time } }
  await Accounts.updateOne(unseen, change, { upsert: true }).catch(async (error: unknown) => {
    if (!isDuplicate(error)) throw error
    await Accounts.updateOne(unseen, change)
  })
}
