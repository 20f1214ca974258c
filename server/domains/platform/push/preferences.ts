import { createHash } from 'node:crypto'
import { z } from 'zod'
import { hourInZone, isZone } from '#server/domains/meetings/scheduling/open-time'
import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { conversationMuteOf, conversationMutesOf } from '#server/domains/moderation/social/blocks'
import { accountOf } from '#server/domains/people/accounts/accounts'
import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import { upsert } from '#server/ports/database/port'
import { type Preferences, type PushType, pushTypes, ringing, type Suppression } from '#shared/api/platform/push'
import { AppError } from '#shared/errors'
import { linkTo } from '#shared/kit/pages'
import { forgetBrowser } from './browsers.ts'
import { PushPreferences, type StoredBrowser, type StoredPreferences } from './model.ts'

/** A notice that a browser shows. */
export const Notice = z.object({
  title: z.string(),
  body: z.string(),
  type: z.enum(pushTypes),
  /** The caller, in notices of calls. */
  callerId: z.string().nullable(),
  callerName: z.string().nullable(),
  /** The account that acted. */
  senderAddress: z.string().nullable(),
  /** A path of this site. */
  url: z.string(),
  /** A notice replaces an earlier one of its tag, such as the key of a room. */
  tag: z.string(),
  /** Replaces a notice without a new alert. */
  silent: z.literal(true).optional(),
  /** Closes the notice of this tag. */
  closed: z.literal(true).optional(),
})
export type Notice = z.infer<typeof Notice>

/** Closes the notice of a tag. Older workers show its text instead. */
export const closingNotice = (type: Notice['type'], tag: string): Notice => ({
  title: 'Plaza',
  body: 'There is nothing new here any more.',
  type,
  callerId: null,
  callerName: null,
  senderAddress: null,
  url: linkTo('home'),
  tag,
  silent: true,
  closed: true,
})

const topicLength = 32

/** Sends a notice that is valid until then. A browser without a subscription is forgotten. */
export async function sendNotice(
  node: Node,
  browser: StoredBrowser,
  notice: Notice,
  until: number,
  signal?: AbortSignal,
) {
  const { endpoint, p256dh, auth } = browser
  const message = {
    text: JSON.stringify(notice),
    // Hashed, so that the push service learns no tag.
    topic: createHash('sha256').update(`${auth} ${notice.tag}`).digest('base64url').slice(0, topicLength),
    seconds: Math.max(0, Math.ceil((until - node.now()) / 1_000)),
    urgency: notice.type === ringing ? ('high' as const) : ('normal' as const),
  }
  const outcome = await node.services.push.send({ endpoint, p256dh, auth }, message, signal)
  if (outcome === 'gone') await forgetBrowser(browser)
  return outcome
}

const usual: Omit<StoredPreferences, '_id'> = {
  quiet_start: null,
  quiet_end: null,
  notify_dms: true,
  notify_groups: true,
  notify_channels: true,
  notify_calls: true,
}

const fields = {
  quietStart: 'quiet_start',
  quietEnd: 'quiet_end',
  quietTimezone: 'quiet_timezone',
  notifyDms: 'notify_dms',
  notifyGroups: 'notify_groups',
  notifyChannels: 'notify_channels',
  notifyCalls: 'notify_calls',
  notifyInvitations: 'notify_invitations',
} as const satisfies Record<keyof Preferences, keyof StoredPreferences>

/** With `do_not_disturb` of the profile. */
interface AllPreferences extends Preferences {
  doNotDisturb: boolean
}

export async function pushPreferencesOf(account: string): Promise<AllPreferences> {
  const [found, owner] = await Promise.all([
    PushPreferences.findOne({ _id: account }).lean<StoredPreferences>(),
    accountOf(account),
  ])
  const stored = { ...usual, ...found }
  return {
    doNotDisturb: owner?.do_not_disturb ?? false,
    quietStart: stored.quiet_start,
    quietEnd: stored.quiet_end,
    quietTimezone: stored.quiet_timezone ?? null,
    notifyDms: stored.notify_dms,
    notifyGroups: stored.notify_groups,
    notifyChannels: stored.notify_channels,
    notifyCalls: stored.notify_calls,
    notifyInvitations: stored.notify_invitations ?? true,
  }
}

type Change = { [Name in keyof Preferences]: Preferences[Name] | undefined }

/** Stores the given preferences; false if there are none. Throws VALIDATION_ERROR for an unknown zone. */
export async function changePreferences(account: string, change: Change): Promise<boolean> {
  const { quietTimezone: zone } = change
  if (zone && !isZone(zone)) throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  const named = Object.entries(change).filter(([, value]) => value !== undefined)
  if (named.length === 0) return false
  const set: Partial<StoredPreferences> = Object.fromEntries(
    named.map(([name, value]) => [fields[name as keyof Preferences], value]),
  )
  await upsert(() => PushPreferences.updateOne({ _id: account }, { $set: set }, { upsert: true }))
  return true
}

const switches: Partial<Record<PushType, [keyof Preferences, Suppression]>> = {
  message: ['notifyDms', 'notify_dms'],
  group_message: ['notifyGroups', 'notify_groups'],
  channel_message: ['notifyChannels', 'notify_channels'],
  incoming_call: ['notifyCalls', 'notify_calls'],
  group_invitation: ['notifyInvitations', 'notify_invitations'],
}

/** Why a notice is suppressed; null if it is not. Calls ignore quiet hours. */
export function pushSuppressionOf(preferences: AllPreferences, type: PushType, now: number): Suppression | null {
  if (preferences.doNotDisturb) return 'do_not_disturb'
  const [wanted, suppression] = switches[type] ?? []
  if (wanted && suppression && !preferences[wanted]) return suppression
  return type !== ringing && isQuiet(preferences, now) ? 'quiet_hours' : null
}

/** From the first hour to before the second, over midnight if needed. */
function isQuiet({ quietStart: from, quietEnd: to, quietTimezone: zone }: Preferences, now: number): boolean {
  if (from === null || to === null) return false
  // Another node may know a zone that this one does not; UTC is used then.
  const hour = hourInZone(zone !== null && isZone(zone) ? zone : 'UTC', now)
  return from <= to ? hour >= from && hour < to : hour >= from || hour < to
}

/** Whether the account wants the notice now. `room` is the one whose mute suppresses it. */
export async function isNoticeWanted(
  node: Node,
  account: string,
  { type, senderAddress }: Pick<Notice, 'type' | 'senderAddress'>,
  room: RoomKey | null,
): Promise<boolean> {
  const now = node.now()
  const [preferences, mutes, blocked] = await Promise.all([
    pushPreferencesOf(account),
    conversationMutesOf(account, now),
    senderAddress === null ? new Set<string>() : blockedAmong(account, [senderAddress]),
  ])
  const isQuiet =
    pushSuppressionOf(preferences, type, now) !== null ||
    (room !== null && conversationMuteOf(mutes, room, account) !== null)
  return !isQuiet && blocked.size === 0
}
