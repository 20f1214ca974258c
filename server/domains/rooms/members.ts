import { accountOf } from '#server/domains/accounts/accounts'
import { profilesOf } from '#server/domains/accounts/profiles'
import { areBlocked } from '#server/domains/blocks/blocks'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import type { rooms as contract } from '#shared/api/rooms'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { actingIn, keyOf, readRoom, seenBy } from './access.ts'
import { actorOf, entryOf } from './entries.ts'
import { memberRemoved, roleChanged } from './events/people.ts'
import { memberIn } from './facts.ts'
import { becomeMember, giveUpMembership, invitingNoMore, leaving } from './membership.ts'
import { Members } from './model.ts'
import { presencesOf } from './online.ts'
import { roomAnswer } from './rows.ts'
import { mayTouch, rankOf, ranks, standingOf } from './standing.ts'

export const join: Action<typeof contract.join> = async ({ room }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  const outcome = await context.node.log.act<null>(key, {
    sender: account,
    judge: (view, now) => becomeMember(view, now, actor),
  })
  if (!outcome.row && context.door === 'http')
    throw new AppError('VALIDATION_ERROR', { message: 'Already a member of this channel' })
  return { room: await roomAnswer(context.node, key, account) }
}

export const leave: Action<typeof contract.leave> = async ({ room }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  await context.node.log.act<null>(key, {
    sender: account,
    judge(view, now) {
      seenBy(view, account, now)
      return giveUpMembership(view, actor)
    },
  })
  return done
}

export const members: Action<typeof contract.members> = async ({ room, limit, offset }, context) => {
  const { key } = await readRoom(context.node, context.caller, room, () => null)
  const here = { room: key, is_active: true }
  const [rows, total] = await Promise.all([
    Members.find(here).sort({ joined_at: -1, _id: 1 }).skip(offset).limit(limit).lean(),
    Members.countDocuments(here),
  ])
  const accounts = rows.map(({ user_address }) => user_address)
  const [profiles, presences] = await Promise.all([
    profilesOf(context.node, accounts),
    presencesOf(context.node, accounts),
  ])
  return {
    members: rows.map(({ user_address, joined_at, role }) => {
      const {
        name = user_address,
        username = null,
        display_name = null,
        avatar_url = null,
      } = profiles.get(user_address) ?? {}
      return {
        user_address,
        joined_at,
        role: role as never,
        username,
        display_name,
        avatar: avatar_url,
        name,
        online: presences.has(user_address),
      }
    }),
    total,
    hasMore: offset + rows.length < total,
  }
}

export const addMembers: Action<typeof contract.addMembers> = async ({ id, addresses }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf({ type: 'group', id })
  const added = await bringIn(context.node, key, account, addresses)
  return { success: true, added }
}

/** Brings people into a room, one event each; those who are there already are passed over. */
export async function bringIn(
  node: Node,
  key: string,
  account: string,
  addresses: readonly string[],
): Promise<string[]> {
  const wanted = await willing(account, addresses)
  const actor = await actorOf(node, account)
  const added: string[] = []
  for (const address of wanted) {
    const who = await actorOf(node, address)
    const outcome = await node.log.act<null>(key, {
      sender: account,
      judge(view, now) {
        const standing = standingOf(view, account)
        seenBy(view, account, now)
        if (standing.rank < ranks.admin)
          return { refuse: new AppError('FORBIDDEN', { message: 'Only the admin of the group may add people' }) }
        return becomeMember(view, now, actor, { who, invited: true })
      },
    })
    if (outcome.row) added.push(address)
  }
  return added
}

/** Whom somebody may bring in, each once. Throws where one of them is not there, or between a block. */
export async function willing(account: string, addresses: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(addresses)].filter((address) => address !== account)
  for (const address of wanted) await refuseUnwilling(account, address)
  return wanted
}

async function refuseUnwilling(account: string, address: string): Promise<void> {
  if (!(await accountOf(address))) throw new AppError('USER_NOT_FOUND')
  if (await areBlocked(account, address)) throw new AppError('BLOCKED')
}

export const setRole: Action<typeof contract.setRole> = async ({ room, address, role }, context) => {
  const { account } = signedIn(context)
  if (role === 'owner') throw new AppError('VALIDATION_ERROR', { message: 'Owner cannot be assigned' })
  const key = await keyOf(room)
  const [actor, target] = await Promise.all([actorOf(context.node, account), actorOf(context.node, address)])
  await context.node.log.act<null>(key, {
    sender: account,
    judge(view, now) {
      const theirs = standingOf(view, address)
      const member = memberIn(view, address)
      const { room: here, standing: mine } = actingIn(view, account, now)
      if (mine.rank < ranks.admin)
        return { refuse: new AppError('FORBIDDEN', { message: 'Only admins and the owner may set roles' }) }
      if (!here.is_active) return { refuse: new AppError('ROOM_ARCHIVED') }
      if (!member) return { refuse: new AppError('NOT_FOUND', { message: 'Not a member of this room' }) }
      if (theirs.rank >= mine.rank || rankOf(role) >= mine.rank)
        return { refuse: new AppError('FORBIDDEN', { message: 'You may only touch and give lower ranks' }) }
      if (member.role === role) return { already: null }
      const kept = rankOf(role) < ranks.admin ? invitingNoMore(view, address) : {}
      const body = { role, member: { ...member, role }, permissions: null, ...kept }
      return { accept: entryOf(view, actor, roleChanged, body, { target: address, targetName: target.name }) }
    },
  })
  return done
}

export const kick: Action<typeof contract.kick> = async ({ room, address, reason }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const [actor, target] = await Promise.all([actorOf(context.node, account), actorOf(context.node, address)])
  await context.node.log.act<null>(key, {
    sender: account,
    judge(view, now) {
      const theirs = standingOf(view, address)
      const member = memberIn(view, address)
      const { room: here, standing: mine } = actingIn(view, account, now)
      if (!mine.isModerator || !mine.canMute)
        return { refuse: new AppError('FORBIDDEN', { message: 'Only moderators may remove members' }) }
      if (!here.is_active) return { refuse: new AppError('ROOM_ARCHIVED') }
      if (!member) return { refuse: new AppError('NOT_FOUND', { message: 'Not a member of this room' }) }
      if (!mayTouch(mine, theirs))
        return { refuse: new AppError('FORBIDDEN', { message: 'You may only remove members of lower rank' }) }
      const about = { target: address, targetName: target.name, reason: reason ?? null }
      return { accept: entryOf(view, actor, memberRemoved, leaving(view, address), about) }
    },
  })
  return done
}
