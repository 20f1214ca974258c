import { friendsAmong } from '#server/domains/people/friends/pairs'
import { presencesOf } from '#server/domains/rooms/room-state/online'
import type { Node } from '#server/kernel/context'
import { subscribedAccounts } from './browsers.ts'
import { type AccountNotice, queueNotice } from './deliver.ts'
import type { Notice } from './notice.ts'
import { isNoticeWanted } from './preferences.ts'

const hourSeconds = 3_600
/** Notices to an account of one type, and of one tag. */
const noticesAnHour = 60
const noticesOfTagAnHour = 20

/** Queues notices for accounts with a browser, no active page on any node, and matching preferences. Each browser is a job. */
export async function notifyBrowsers(node: Node, notices: ReadonlyMap<string, AccountNotice>): Promise<void> {
  const subscribed = await subscribedAccounts([...notices.keys()])
  if (subscribed.length === 0) return
  const presences = await presencesOf(node, subscribed)
  for (const account of subscribed) {
    const one = notices.get(account)
    if (!one || presences.get(account) === 'active') continue
    if (
      (await isNoticeWanted(node, account, one.notice, one.room)) &&
      (await isWithinLimits(node, account, one.notice))
    )
      await queueNotice(node, account, one)
  }
}

/** Whether the account is within its hourly limits. */
async function isWithinLimits(
  { limits }: Node,
  account: string,
  { type, tag, senderAddress }: Notice,
): Promise<boolean> {
  const isOfFriend = senderAddress !== null && (await friendsAmong(account, [senderAddress])).length > 0
  // Strangers have a limit apart from friends.
  const by = isOfFriend ? '' : ' of others'
  return (
    (await limits.guard('notices-of', `${account} ${tag}${by}`, noticesOfTagAnHour, hourSeconds)) &&
    (await limits.guard('notices-to', `${account} ${type}${by}`, noticesAnHour, hourSeconds))
  )
}

/** As `notifyBrowsers`, without waiting for success. */
export function notifyInBackground(node: Node, notices: ReadonlyMap<string, AccountNotice>): void {
  notifyBrowsers(node, notices).catch((error: unknown) => node.logger.warn({ error }, 'browsers were not told'))
}
