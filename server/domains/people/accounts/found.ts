import type { QueryFilter } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { type Account, Accounts } from './model.ts'

/** Selects the accounts that directories and searches show: neither suspended nor to be erased. */
export const ofFound = { is_banned: false, erased_at: { $exists: false } } as const
export const isFound = (account: Pick<Account, 'is_banned' | 'erased_at'>): boolean =>
  !account.is_banned && account.erased_at === undefined

const hiddenFrom = {
  /** The lists of a room, of friends and of streams still show suspended people. */
  lists: { erased_at: { $exists: true } },
  directories: { $or: [{ is_banned: true }, { erased_at: { $exists: true } }] },
} satisfies Record<string, QueryFilter<Account>>

/** The accounts among these that are not shown there, by one query. Viewers are always shown to themselves. */
export async function hiddenAccountsAmong(
  accounts: readonly string[],
  viewer: string | null,
  from: keyof typeof hiddenFrom,
): Promise<Set<string>> {
  const others = [...new Set(accounts)].filter((account) => !isSameAccount(account, viewer))
  if (others.length === 0) return new Set()
  const hidden: QueryFilter<Account> = { _id: { $in: others }, ...hiddenFrom[from] }
  const found = await Accounts.find(hidden, { _id: 1 }).lean<Pick<Account, '_id'>[]>()
  return new Set(found.map(({ _id }) => _id))
}

/** The rows that a list shows to this viewer. Every list and search of people passes here. */
export async function foundRows<Row>(
  rows: readonly Row[],
  accountIn: (row: Row) => string,
  viewer: string | null,
): Promise<Row[]> {
  const hidden = await hiddenAccountsAmong(rows.map(accountIn), viewer, 'lists')
  return rows.filter((row) => !hidden.has(accountIn(row)))
}

/** Is the account to be erased? Then nobody appoints it, and what it has offered is not taken. */
export const isLeavingAccount = async (id: string): Promise<boolean> =>
  (await Accounts.exists({ _id: id, ...hiddenFrom.lists })) !== null

/** Refuses an unknown account, and alike one that is to be erased, unless the two have something in common already. */
export async function refuseNewContact(id: string, hasBegun = async (): Promise<boolean> => false): Promise<void> {
  const account = await Accounts.findOne({ _id: id }, { erased_at: 1 }).lean<Pick<Account, 'erased_at'>>()
  if (!account || (account.erased_at && !(await hasBegun()))) throw new AppError('USER_NOT_FOUND')
}

/** Is the account deleted, or being deleted now? */
export const isGoneAccount = async (id: string): Promise<boolean> =>
  (await Accounts.exists({ _id: id, is_erasing: { $exists: false } })) === null

/** Refuses a deleted account for those who have something in common with it. */
export async function refuseGone(id: string): Promise<void> {
  if (await isGoneAccount(id)) throw new AppError('USER_NOT_FOUND')
}
