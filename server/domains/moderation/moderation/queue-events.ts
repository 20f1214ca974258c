import { onReport } from '#server/domains/moderation/social/reports'
import { bodyOf, isRowOf, unsignedEntry } from '#server/domains/rooms/events/define'
import { audiences, type Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { queued } from '#shared/api/moderation/moderation'
import { isSameAccount } from '#shared/kit/accounts'
import { queueChanged } from './events.ts'
import { findItem, itemSeenBy, keyOfItem, type StoredItem } from './queue-items.ts'

/** Appends to `global`, so that moderators on every node are notified. */
export async function announceItem(node: Node, account: string, item: string): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: account,
    makes: queueChanged,
    judge: () => ({ accept: unsignedEntry(queueChanged, { item }) }),
  })
}

export const followReports = (node: Node): void =>
  onReport(node, ({ caller }, id) => announceItem(node, caller.account ?? '', id))

/** Sends an item of the queue, if this row of `global` names one. */
export async function sendChangedItem(node: Node, row: Row): Promise<void> {
  const item = isRowOf(row, queueChanged) ? await findItem(bodyOf(row, queueChanged).item) : null
  if (item) await sendItem(node, item)
}

/** Sends to global moderators and those of the room, each as they may see it. */
export async function sendItem(node: Node, item: StoredItem): Promise<void> {
  const key = keyOfItem(item)
  const audienceOf = (scope: RoomKey) => node.live.connectionsOf('/moderation', audiences.moderators(scope))
  const listening = new Map([GLOBAL, ...(key === null ? [] : [key])].flatMap(audienceOf).map((one) => [one.id, one]))
  const accounts = new Set([...listening.values()].flatMap(({ account }) => account ?? []))
  for (const account of accounts) {
    const seen = await itemSeenBy(node, account, item)
    if (seen === null) continue
    for (const connection of listening.values())
      if (isSameAccount(connection.account, account)) connection.emit(queued, { item: seen })
  }
}
