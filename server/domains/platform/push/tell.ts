import { friendsAmong } from '#server/domains/people/friends/pairs'
import { presencesOf } from '#server/domains/rooms/room-state/online'
import type { Node } from '#server/kernel/context'
import { subscribedAmong } from './browsers.ts'
import { hand, type Told } from './giving.ts'
import type { Notice } from './notice.ts'
import { isWanted } from './wishes.ts'

const hourSeconds = 3_600
/** Of one kind to one account, and of one tag among them. */
const noticesAnHour = 60
const noticesOfTagAnHour = 20

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
    if (!one || presences.get(account) === 'active') continue
    if ((await isWanted(node, account, one.notice, one.room)) && (await isWithin(node, account, one.notice)))
      await hand(node, account, one)
  }
}

/** Is it not too much within the hour? */
async function isWithin({ limits }: Node, account: string, { type, tag, senderAddress }: Notice): Promise<boolean> {
  const isOfFriend = senderAddress !== null && (await friendsAmong(account, [senderAddress])).length > 0
  // What strangers do takes nothing from what friends do.
  const by = isOfFriend ? '' : ' of others'
  return (
    (await limits.guard('notices-of', `${account} ${tag}${by}`, noticesOfTagAnHour, hourSeconds)) &&
    (await limits.guard('notices-to', `${account} ${type}${by}`, noticesAnHour, hourSeconds))
  )
}

/** As `tellBrowsers`, of which nobody hears whether it succeeds. */
export function tellQuietly(node: Node, told: ReadonlyMap<string, Told>): void {
  tellBrowsers(node, told).catch((error: unknown) => node.logger.warn({ error }, 'browsers were not told'))
}
