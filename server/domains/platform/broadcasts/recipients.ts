import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { suspendedAccountsAmong } from '#server/domains/people/accounts/facts'
import { ofFound } from '#server/domains/people/accounts/leaving'
import { Accounts } from '#server/domains/people/accounts/model'
import { type Pair, Pairs } from '#server/domains/people/friends/model'
import { otherPersonOf } from '#server/domains/people/friends/pairs'
import type { BroadcastTarget } from '#shared/api/broadcasts'

interface Asked {
  target: BroadcastTarget
  /** Whose friends are meant. */
  created_by: string
  created_at: Date
}

/** Some of those who are told. */
interface Some {
  accounts: readonly string[]
  /** Who would be among them, and is not told, as they are suspended. */
  passedOver: number
  /** From where the next ones are read; null where these are the last. */
  cursor: string | null
}

/** Those whom people sign in to, and who were there when it was said. */
const everybody = ({ created_at }: Asked) => ({
  wallet_type: { $ne: null },
  ...ofFound,
  created_at: { $lte: created_at },
})
/** Plaza itself is a friend of many, and is told nothing. */
const friends = ({ created_by: by }: Asked) => ({
  state: 'friends' as const,
  $or: [
    { from_address: by, to_address: { $ne: plazaAccount } },
    { to_address: by, from_address: { $ne: plazaAccount } },
  ],
})

export const countOf = (asked: Asked): Promise<number> =>
  asked.target === 'friends' ? Pairs.countDocuments(friends(asked)) : Accounts.countDocuments(everybody(asked))

/** The next of those who are told, in the order of their ids. */
export async function recipientsAfter(asked: Asked, cursor: string, most: number): Promise<Some> {
  const rows = await (asked.target === 'friends' ? friendsAfter : accountsAfter)(asked, cursor, most)
  const all = rows.map(({ account }) => account)
  const suspended = await suspendedAccountsAmong(all)
  return {
    accounts: all.filter((account) => !suspended.has(account)),
    passedOver: suspended.size,
    cursor: rows.length < most ? null : (rows.at(-1)?.at ?? null),
  }
}

async function accountsAfter(asked: Asked, cursor: string, most: number) {
  const found = await Accounts.find({ ...everybody(asked), _id: { $gt: cursor } }, { _id: 1 })
    .sort({ _id: 1 })
    .limit(most)
    .lean()
  return found.map(({ _id }) => ({ at: _id, account: _id }))
}

async function friendsAfter(asked: Asked, cursor: string, most: number) {
  const found = await Pairs.find({ ...friends(asked), _id: { $gt: cursor } })
    .sort({ _id: 1 })
    .limit(most)
    .lean<Pair[]>()
  return found.map((pair) => ({ at: pair._id, account: otherPersonOf(pair, asked.created_by) }))
}
