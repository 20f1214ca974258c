import { createHmac } from 'node:crypto'
import { Blocks } from '#server/domains/moderation/blocks/model'
import { blockAccount } from '#server/domains/moderation/social/blocks'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { moderationApplied, roleChanged } from '#server/domains/rooms/room-state/events/people'
import {
  type BanFact,
  banIn,
  grantIn,
  type MuteFact,
  memberIn,
  moderatorIn,
  muteIn,
  roomIn,
} from '#server/domains/rooms/room-state/facts'
import { leavingChanges, revokedInvitations } from '#server/domains/rooms/room-state/membership'
import { Bans, Mutes } from '#server/domains/rooms/room-state/model'
import { actorOf, entryOf, isLimited, plazaActor } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { Entry, Judgement } from '#server/log/types'
import { upsert } from '#server/ports/database/port'
import type { Act } from '#shared/api/moderation/moderation-acts'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { type KeptRestriction, KeptRestrictions } from './model.ts'
import {
  type Decision,
  endOfDuration,
  millisecondsOf,
  needHigherRank,
  needNoSuperior,
  needPermission,
  needReach,
  permissions,
  type Scene,
} from './moderate.ts'

const sameTerm = (from: string, until: string | null, duration: string): boolean => {
  const length = millisecondsOf(duration)
  return until === null ? length === null : length !== null && Date.parse(until) - Date.parse(from) === length
}

type OfTarget = Pick<Scene, 'view' | 'actor' | 'target'>

/** The entry of a ban; without a duration, one that goes on until its end. */
function banEntry({ view, actor, target }: OfTarget, ban: BanFact, duration?: string): Entry {
  const { member_count, ...rights } = leavingChanges(view, target.account)
  const counted = { ...rights, ...(memberIn(view, target.account) ? { member_count } : {}) }
  const about = { target: target.account, targetName: target.name, until: ban.banned_until, reason: ban.reason }
  const body = { action: 'ban', ban, ...(duration === undefined ? {} : { duration }), ...counted } as const
  return entryOf(view, actor, moderationApplied, body, about)
}

function muteEntry({ view, actor, target }: OfTarget, mute: MuteFact, duration?: string): Entry {
  const about = { target: target.account, targetName: target.name, until: mute.muted_until, reason: mute.reason }
  const body = { action: 'mute', mute, ...(duration === undefined ? {} : { duration }) } as const
  return entryOf(view, actor, moderationApplied, body, about)
}

export const decideBan =
  ({ duration, reason }: Act, id = newId()) =>
  (scene: Scene): Decision => {
    const { view, now, actor, target, theirs } = scene
    const length = duration ?? 'permanent'
    const current = banIn(view, target.account, now)
    needPermission(scene, 'canMute')
    if (theirs.isAdmin && !isSameAccount(actor.account, target.account))
      throw new AppError('FORBIDDEN', { message: 'Admins cannot be banned' })
    needReach(scene, 'ban')
    if (current && current.reason === (reason ?? null) && sameTerm(current.banned_at, current.banned_until, length))
      return { already: current }
    if (current) needNoSuperior(scene, current.banned_by)
    const banned_until = endOfDuration(now, length)
    const record: BanFact = {
      ban_id: id,
      user_address: target.account,
      banned_by: actor.account,
      reason: reason ?? null,
      banned_at: new Date(now).toISOString(),
      banned_until,
    }
    return { entry: banEntry(scene, record, length), record }
  }

export const decideUnban =
  ({ reason }: Act) =>
  (scene: Scene): Decision => {
    const { view, now, actor, target } = scene
    const current = banIn(view, target.account, now)
    needPermission(scene, 'canMute')
    if (!current) return { already: null }
    needNoSuperior(scene, current.banned_by)
    const about = { target: target.account, targetName: target.name, reason: reason ?? null }
    return { entry: entryOf(view, actor, moderationApplied, { action: 'unban', ban: current }, about), record: current }
  }

export const decideMute =
  ({ duration, reason }: Act, id = newId()) =>
  (scene: Scene): Decision => {
    const { view, now, actor, target } = scene
    const length = duration ?? 'permanent'
    const current = muteIn(view, target.account, now)
    needPermission(scene, 'canMute')
    needReach(scene, 'mute')
    if (current && current.reason === (reason ?? null) && sameTerm(current.muted_at, current.muted_until, length))
      return { already: current }
    if (current) needNoSuperior(scene, current.muted_by)
    const muted_until = endOfDuration(now, length)
    const record: MuteFact = {
      mute_id: id,
      user_address: target.account,
      muted_by: actor.account,
      reason: reason ?? null,
      muted_at: new Date(now).toISOString(),
      muted_until,
    }
    return { entry: muteEntry(scene, record, length), record }
  }

export const decideUnmute =
  ({ reason }: Act) =>
  (scene: Scene): Decision => {
    const { view, now, actor, target, theirs, mine } = scene
    const current = muteIn(view, target.account, now)
    needPermission(scene, 'canMute')
    if (isSameAccount(actor.account, target.account) || (theirs.isAdmin && !mine.isSuperAdmin))
      throw new AppError('FORBIDDEN', { message: 'You may not unmute this person' })
    if (!current) return { already: null }
    needNoSuperior(scene, current.muted_by)
    const about = { target: target.account, targetName: target.name, reason: reason ?? null }
    return {
      entry: entryOf(view, actor, moderationApplied, { action: 'unmute', mute: current }, about),
      record: current,
    }
  }

export const decideWarning =
  ({ reason }: Act) =>
  (scene: Scene): Decision => {
    const { view, actor, target } = scene
    needPermission(scene, 'canMute')
    needReach(scene, 'warn')
    const about = { target: target.account, targetName: target.name, reason: reason ?? null }
    return { entry: entryOf(view, actor, moderationApplied, { action: 'warn' }, about), record: null }
  }

const grantsOf = ({
  can_pin,
  can_delete,
  can_mute,
  can_manage_mods,
}: {
  can_pin: boolean
  can_delete: boolean
  can_mute: boolean
  can_manage_mods: boolean
}) => ({
  canPin: can_pin,
  canDelete: can_delete,
  canMute: can_mute,
  canManageMods: can_manage_mods,
})

export const decidePromotion =
  ({ patch = {} }: Act, id = newId()) =>
  (scene: Scene): Decision => {
    const { view, now, actor, target, mine, isLeaving } = scene
    const current = moderatorIn(view, target.account)
    needPermission(scene, 'canManageMods')
    needHigherRank(scene)
    const record = {
      moderator_id: current?.moderator_id ?? id,
      user_address: target.account,
      granted_by: actor.account,
      granted_at: current?.granted_at ?? new Date(now).toISOString(),
      can_pin: patch.canPin ?? current?.can_pin ?? mine.canPin,
      can_delete: patch.canDelete ?? current?.can_delete ?? mine.canDelete,
      can_mute: patch.canMute ?? current?.can_mute ?? mine.canMute,
      can_manage_mods: patch.canManageMods ?? current?.can_manage_mods ?? false,
      notes: patch.notes === undefined ? (current?.notes ?? null) : patch.notes,
      granted_seq: current?.granted_seq ?? view.seq,
    }
    if (permissions.some((permission) => patch[permission] === true && !mine[permission]))
      throw new AppError('FORBIDDEN', { message: 'You may not grant what you do not hold' })
    const [held, granted] = [current && grantsOf(current), grantsOf(record)]
    if (isLeaving && (!held || permissions.some((permission) => granted[permission] && !held[permission])))
      throw new AppError('NOT_FOUND', { message: 'User not found' })
    const { granted_by: _, ...after } = record
    if (current && Object.entries(after).every(([name, value]) => current[name as keyof typeof after] === value))
      return { already: current }
    const about = { target: target.account, targetName: target.name }
    const lost = record.can_manage_mods ? {} : revokedInvitations(view, target.account)
    const body = { role: 'moderator', moderator: record, permissions: grantsOf(record), ...lost }
    return { entry: entryOf(view, actor, roleChanged, body, about), record }
  }

export const decideDemotion =
  (_act: Act) =>
  (scene: Scene): Decision => {
    const { view, actor, target } = scene
    const current = grantIn(view, target.account)
    const member = memberIn(view, target.account)
    needPermission(scene, 'canManageMods')
    const holdsRank = member?.role === 'moderator'
    if (!isSameAccount(actor.account, target.account) || isLimited(view, actor.account)) needHigherRank(scene)
    if (!current && !holdsRank) return { already: null }
    const rank = holdsRank ? { member: { ...member, role: 'member' as const } } : {}
    const about = { target: target.account, targetName: target.name }
    const lost = revokedInvitations(view, target.account)
    const taken = current ? { removed: current } : {}
    const body = { role: 'member', ...rank, moderator: null, permissions: null, ...taken, ...lost }
    return { entry: entryOf(view, actor, roleChanged, body, about), record: current }
  }

const hashBy = (secret: Uint8Array, ...parts: string[]): string =>
  createHmac('sha256', secret)
    .update(['restricted', ...parts].join('\0'))
    .digest('base64url')

/**
 * Keeps what others decided about an account that is erased, by a keyed hash. An account of a passkey cannot be made
 * again. It can be repeated.
 */
export async function keepRestrictions(node: Node, account: string): Promise<void> {
  if ((await accountOf(account))?.wallet_type === 'passkey') return
  const key = node.settings.sessionKeys[0]
  if (!key) throw new Error('There is no session key')
  const person = hashBy(key.secret, account)
  const inForce = { user_address: account, is_active: true }
  const [bans, mutes, blocks] = await Promise.all([
    Bans.find(inForce).lean(),
    Mutes.find(inForce).lean(),
    Blocks.find({ blocked_address: account }).lean(),
  ])
  const none = { room: null, decided_by: null, blocker: null, until: null }
  const kept: Omit<KeptRestriction, '_id' | 'person'>[] = [
    ...bans.map(({ room, banned_by: decided_by, banned_until }) => ({
      ...{ ...none, kind: 'ban' as const, room, decided_by, until: banned_until ? new Date(banned_until) : null },
    })),
    ...mutes.map(({ room, muted_by: decided_by, muted_until }) => ({
      ...{ ...none, kind: 'mute' as const, room, decided_by, until: muted_until ? new Date(muted_until) : null },
    })),
    ...blocks.map(({ blocker_address: blocker }) => ({ ...none, kind: 'block' as const, blocker })),
  ]
  for (const one of kept) {
    if (one.until !== null && one.until.getTime() <= node.now()) continue
    const _id = hashBy(key.secret, account, one.kind, one.room ?? one.blocker ?? '')
    await upsert(() => KeptRestrictions.updateOne({ _id }, { $set: { ...one, person } }, { upsert: true }))
  }
}

/** Applies to an account that was made anew what was in force at its erasure. It is forgotten once it applies. */
export async function restoreRestrictions(node: Node, account: string): Promise<void> {
  const person = { $in: node.settings.sessionKeys.map(({ secret }) => hashBy(secret, account)) }
  for (const kept of await KeptRestrictions.find({ person }).lean<KeptRestriction[]>()) {
    if (kept.blocker === null) await restoreInRoom(node, account, kept)
    else if (await accountOf(kept.blocker)) await blockAccount(node, kept.blocker, account, null)
    await KeptRestrictions.deleteOne({ _id: kept._id })
  }
}

async function restoreInRoom(
  node: Node,
  account: string,
  { kind, room, decided_by, until: end }: KeptRestriction,
): Promise<void> {
  const target = await actorOf(node, account)
  const until = end?.toISOString() ?? null
  const by = decided_by ?? plazaActor.account
  await node.log.act(room ?? '', {
    sender: plazaActor.account,
    makes: moderationApplied,
    judge(view, now): Judgement<null> {
      const isInForce = (kind === 'ban' ? banIn : muteIn)(view, account, now) !== null
      if (roomIn(view) === null || isInForce || (end !== null && end.getTime() <= now)) return { already: null }
      const [at, duration] = [new Date(now).toISOString(), until === null ? 'permanent' : undefined]
      const scene = { view, actor: plazaActor, target }
      const about = { user_address: account, reason: null }
      const ban = { ...about, ban_id: newId(), banned_by: by, banned_at: at, banned_until: until }
      const mute = { ...about, mute_id: newId(), muted_by: by, muted_at: at, muted_until: until }
      return { accept: kind === 'ban' ? banEntry(scene, ban, duration) : muteEntry(scene, mute, duration) }
    },
  })
}
