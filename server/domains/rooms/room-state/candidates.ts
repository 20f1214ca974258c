import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { hiddenAccountsAmong } from '#server/domains/people/accounts/found'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import type { MemberRole } from '#shared/api/rooms/room'
import { isSameAccount } from '#shared/kit/accounts'
import { isAgent } from '#shared/kit/room-agents'
import { adminRoles } from './membership.ts'
import { Members, Moderators } from './model.ts'

export interface NamedAccount {
  account: string
  name: string
}
interface Candidate extends NamedAccount {
  role: MemberRole
}

const membersAtOnce = 100
export const membersAtMost = 5_000
const fields = { user_address: 1, role: 1 } as const

export interface Candidates {
  candidates: Candidate[]
  /** So many of the oldest members were read. */
  read: number
}

export const isPerson = (account: string): boolean => !isAgent(account) && !isSameAccount(account, plazaAccount)

/**
 * Possible successors by the records: members with a role, the newest member, and the oldest ones. The oldest are read
 * until one can follow. The log decides on right and order.
 */
export async function candidatesIn(node: Node, key: RoomKey, but: string | null): Promise<Candidates> {
  const here = { room: key, is_active: true }
  const grants = await Moderators.find(here, { user_address: 1 }).lean()
  const others = await Promise.all([
    Members.find({ ...here, role: { $in: [...adminRoles, 'moderator'] } }, fields).lean(),
    Members.find({ ...here, user_address: { $in: grants.map((grant) => grant.user_address) } }, fields).lean(),
    Members.find(here, fields).sort({ joined_at: -1 }).limit(1).lean(),
  ])
  const roles = new Map(others.flat().map(({ user_address, role }) => [user_address, role]))
  let read = 0
  for (let isMore = true; isMore; ) {
    const page = await Members.find(here, fields).sort({ joined_at: 1 }).skip(read).limit(membersAtOnce).lean()
    read += page.length
    const hidden = await hiddenAccountsAmong(page.map(accountOf), null, 'directories')
    const able = page.filter((row) => !hidden.has(accountOf(row)) && accountOf(row) !== but && isPerson(accountOf(row)))
    for (const { user_address, role } of able) roles.set(user_address, role)
    isMore = able.length === 0 && page.length === membersAtOnce && read < membersAtMost
  }
  if (but !== null) roles.delete(but)
  for (const account of await hiddenAccountsAmong([...roles.keys()], null, 'lists')) roles.delete(account)
  const profiles = await profilesOf(node, [...roles.keys()])
  const candidates = [...roles].map(([account, role]) => ({
    account,
    role,
    name: profiles.get(account)?.name ?? account,
  }))
  return { candidates, read }
}

const accountOf = ({ user_address }: { user_address: string }): string => user_address
