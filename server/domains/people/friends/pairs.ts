import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { accountOf, plazaAccount } from '#server/domains/people/accounts/accounts'
import { foundRows } from '#server/domains/people/accounts/found'
import { cursorAt, cursorPlaceIn } from '#server/kernel/store/pages'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { type Pair, Pairs } from './model.ts'

/** The id of a pair, in either order. */
export const pairIdOf = (one: string, other: string): string => [one, other].sort().join(' ')

export const otherPersonOf = (pair: Pick<Pair, 'from_address' | 'to_address'>, account: string): string =>
  isSameAccount(pair.from_address, account) ? pair.to_address : pair.from_address

type PairSide = 'from_address' | 'to_address'

const newestOf = (account: string, end: PairSide, state: Pair['state'], limit: number, before?: string) =>
  Pairs.find({ [end]: account, state, ...(before === undefined ? {} : { version: { $lt: before } }) })
    .sort({ version: -1 })
    .limit(limit)
    .lean<Pair[]>()

/** A page of an account's friends, and the next cursor. */
export async function friendsOf(account: string, limit: number, cursor?: string) {
  const own = `friends ${account}` as const
  const before = cursor === undefined ? undefined : cursorPlaceIn(own, cursor)
  const [asked, accepted] = await Promise.all([
    newestOf(account, 'from_address', 'friends', limit, before),
    newestOf(account, 'to_address', 'friends', limit, before),
  ])
  const page = [...asked, ...accepted].sort((one, other) => (one.version < other.version ? 1 : -1)).slice(0, limit)
  const last = page.length === limit ? page.at(-1) : undefined
  return { pairs: await listedPairs(account, page), next: last ? cursorAt(own, last.version) : null }
}

/** The newest open requests to or from an account. */
export const openRequests = async (account: string, end: PairSide, limit: number): Promise<Pair[]> =>
  listedPairs(account, await newestOf(account, end, 'pending', limit))

/** The friends of this account among these. */
export async function friendsAmong(account: string, addresses: readonly string[]): Promise<string[]> {
  const ids = addresses.map((address) => pairIdOf(account, address))
  const pairs = await Pairs.find({ _id: { $in: ids }, state: 'friends' }).lean<Pair[]>()
  return (await unblockedPairs(account, pairs)).map((pair) => otherPersonOf(pair, account))
}

/** A block applies from its own record on, even before the friendship has ended. */
export async function unblockedPairs(account: string, pairs: readonly Pair[]): Promise<Pair[]> {
  const blocked = await blockedAmong(
    account,
    pairs.map((pair) => otherPersonOf(pair, account)),
  )
  return pairs.filter((pair) => !blocked.has(otherPersonOf(pair, account)))
}

/** The pairs that lists show: without blocks, and with somebody who is found. */
export const listedPairs = async (account: string, pairs: readonly Pair[]): Promise<Pair[]> =>
  foundRows(await unblockedPairs(account, pairs), (pair) => otherPersonOf(pair, account), account)

/** A friend, by the caller's id of the friendship or by address. */
type FriendReference = { id: string } | { address: string }

/** The filters for a friend's row, from either side; other people's rows do not match. */
const rowsOf = (account: string, which: FriendReference) =>
  'id' in which
    ? ([
        { from_address: account, from_friend_id: which.id, state: 'friends' },
        { to_address: account, to_friend_id: which.id, state: 'friends' },
      ] as const)
    : ([
        { _id: pairIdOf(account, which.address), from_address: account, state: 'friends' },
        { _id: pairIdOf(account, which.address), to_address: account, state: 'friends' },
      ] as const)

/** False if there is no such friend. */
export async function renameFriend(account: string, which: FriendReference, nickname: string | null): Promise<boolean> {
  const [asker, asked] = rowsOf(account, which)
  const renamed = await Pairs.updateOne(asker, { $set: { from_nickname: nickname } })
  if (renamed.matchedCount === 1) return true
  return (await Pairs.updateOne(asked, { $set: { to_nickname: nickname } })).matchedCount === 1
}

/** The ended friendship; null if there is no such friend. */
export const removeFriend = (account: string, which: FriendReference): Promise<Pair | null> =>
  Pairs.findOneAndDelete({ $or: [...rowsOf(account, which)] }).lean<Pair>()

/** The default, and the refusals of whom the owner of an account does not permit. */
const contacts = {
  calls_from: {
    permitted: 'friends',
    nobody: 'This person takes no calls',
    friends: 'Only friends may call this person',
  },
  messages_from: {
    permitted: 'everyone',
    nobody: 'This person takes no new conversations',
    friends: 'Only friends may start a conversation with this person',
  },
  invites_from: {
    permitted: 'everyone',
    nobody: 'This person takes no invitations',
    friends: 'Only friends may invite this person',
  },
} as const

/** The refusal of a contact of this kind with an account; null if its owner permits it. The service itself is permitted. */
export async function refusalOfContact(
  kind: keyof typeof contacts,
  from: string,
  to: string,
): Promise<AppError | null> {
  if (isSameAccount(from, plazaAccount)) return null
  const { permitted, ...refusals } = contacts[kind]
  const allowed = (await accountOf(to))?.[kind] ?? permitted
  if (allowed === 'everyone') return null
  if (allowed === 'friends' && (await friendsAmong(to, [from])).length > 0) return null
  return new AppError('FORBIDDEN', { message: refusals[allowed] })
}
