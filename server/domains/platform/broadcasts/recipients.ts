import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { suspendedAccountsAmong } from '#server/domains/people/accounts/facts'
import { ofFound } from '#server/domains/people/accounts/found'
import { Accounts } from '#server/domains/people/accounts/model'
import { type Pair, Pairs } from '#server/domains/people/friends/model'
import { otherPersonOf } from '#server/domains/people/friends/pairs'
import type { BroadcastTarget } from '#shared/api/platform/broadcasts'

interface BroadcastSource {
  target: BroadcastTarget
  /** The account whose friends are the recipients. */
  created_by: string
  created_at: Date
}

/** A page of recipients. */
interface RecipientPage {
  accounts: readonly string[]
  /** The number of suspended accounts that were left out. */
  passedOver: number
  /** The position of the next page; null after the last. */
  cursor: string | null
}

/** Accounts with a sign-in that existed at the time of the broadcast. */
const everybody = ({ created_at }: BroadcastSource) => ({
  wallet_type: { $ne: null },
  ...ofFound,
  created_at: { $lte: created_at },
})
/** Friends without the Plaza account. */
const friends = ({ created_by: by }: BroadcastSource) => ({
  state: 'friends' as const,
  $or: [
    { from_address: by, to_address: { $ne: plazaAccount } },
    { to_address: by, from_address: { $ne: plazaAccount } },
  ],
})

export const recipientCount = (asked: BroadcastSource): Promise<number> =>
  asked.target === 'friends' ? Pairs.countDocuments(friends(asked)) : Accounts.countDocuments(everybody(asked))

/** The next page of recipients, in the order of their ids. */
export async function recipientsAfter(asked: BroadcastSource, cursor: string, most: number): Promise<RecipientPage> {
  const rows = await (asked.target === 'friends' ? friendsAfter : accountsAfter)(asked, cursor, most)
  const all = rows.map(({ account }) => account)
  const suspended = await suspendedAccountsAmong(all)
  return {
    accounts: all.filter((account) => !suspended.has(account)),
    passedOver: suspended.size,
    cursor: rows.length < most ? null : (rows.at(-1)?.at ?? null),
  }
}

async function accountsAfter(asked: BroadcastSource, cursor: string, most: number) {
  const found = await Accounts.find({ ...everybody(asked), _id: { $gt: cursor } }, { _id: 1 })
    .sort({ _id: 1 })
    .limit(most)
    .lean()
  return found.map(({ _id }) => ({ at: _id, account: _id }))
}

async function friendsAfter(asked: BroadcastSource, cursor: string, most: number) {
  const found = await Pairs.find({ ...friends(asked), _id: { $gt: cursor } })
    .sort({ _id: 1 })
    .limit(most)
    .lean<Pair[]>()
  return found.map((pair) => ({ at: pair._id, account: otherPersonOf(pair, asked.created_by) }))
}
