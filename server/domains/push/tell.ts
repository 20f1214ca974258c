import { blockedAmong } from '#server/domains/blocks/blocks'
import { friendsAmong } from '#server/domains/friends/pairs'
import { presencesOf } from '#server/domains/room-state/online'
import { conversationMutesOf, muteOf } from '#server/domains/social/conversation-mutes'
import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import { browsersOf, subscribedAmong } from './browsers.ts'
import { giveNotice, type Notice } from './notice.ts'
import { preferencesOf, suppressionOf } from './preferences.ts'

const hourSeconds = 3_600
/** Of one kind to one account, and of one tag among them. */
const noticesAnHour = 60
const noticesOfTagAnHour = 20

export interface Told {
  notice: Notice
  /** The room whose silence silences it; null where none does. */
  room: RoomKey | null
  /** So long it is worth telling. */
  seconds: number
}

/**
 * Has accounts told, each what concerns it, by their browsers: those who have one, and no page in front of them on any node that answers, who
 * want to hear of it now. It waits for no push service: each browser is a job.
 */
export async function tellBrowsers(node: Node, told: ReadonlyMap<string, Told>): Promise<void> {
  const subscribed = await subscribedAmong([...told.keys()])
  if (subscribed.length === 0) return
  const presences = await presencesOf(node, subscribed)
  for (const account of subscribed) {
    const one = told.get(account)
    const isAway = presences.get(account) !== 'active'
    if (one && isAway && (await isWanted(node, account, one))) await hand(node, account, one)
  }
}

async function isWanted(node: Node, account: string, { notice, room }: Told): Promise<boolean> {
  const { type, tag, senderAddress } = notice
  const now = node.now()
  const [preferences, mutes, blocked] = await Promise.all([
    preferencesOf(account),
    conversationMutesOf(account, now),
    senderAddress === null ? new Set<string>() : blockedAmong(account, [senderAddress]),
  ])
  const isQuiet =
    suppressionOf(preferences, type, now) !== null || (room !== null && muteOf(mutes, room, account) !== null)
  if (isQuiet || blocked.size > 0) return false
  const isOfFriend = senderAddress !== null && (await friendsAmong(account, [senderAddress])).length > 0
  // What strangers do takes nothing from what friends do.
  const by = isOfFriend ? '' : ' of others'
  return (
    (await node.limits.guard('notices-of', `${account} ${tag}${by}`, noticesOfTagAnHour, hourSeconds)) &&
    (await node.limits.guard('notices-to', `${account} ${type}${by}`, noticesAnHour, hourSeconds))
  )
}

async function hand(node: Node, account: string, { notice, seconds }: Told): Promise<void> {
  const until = node.now() + seconds * 1_000
  for (const { _id: browser } of await browsersOf(node, account))
    await node.jobs.add(giveNotice, { browser, account, notice, until })
}

/** As `tellBrowsers`, of which nobody hears whether it succeeds. */
export function tellQuietly(node: Node, told: ReadonlyMap<string, Told>): void {
  tellBrowsers(node, told).catch((error: unknown) => node.logger.warn({ error }, 'browsers were not told'))
}
