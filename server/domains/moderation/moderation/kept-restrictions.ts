import { createHmac } from 'node:crypto'
import { Blocks } from '#server/domains/moderation/blocks/model'
import { blockAccount } from '#server/domains/moderation/social/blocks'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { actorOf, plazaActor } from '#server/domains/rooms/room-state/entries'
import { moderationApplied } from '#server/domains/rooms/room-state/events/people'
import { banIn, muteIn, roomIn } from '#server/domains/rooms/room-state/facts'
import { Bans, Mutes } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { Judgement } from '#server/log/types'
import { upsert } from '#server/ports/database/port'
import { type KeptRestriction, KeptRestrictions } from './model.ts'
import { banEntry, muteEntry } from './people.ts'

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
