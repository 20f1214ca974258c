import { refuseDisplayName } from '#server/domains/people/accounts/profile-changes'
import { refuseNames } from '#server/domains/rooms/room-state/judge-draft'
import type { Node } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'

interface CallText {
  title?: string | undefined
  notes?: string | null | undefined
  guestName?: string | undefined
}

/** Refuses texts of a call that imitate somebody, or have a word that is blocked everywhere. */
export async function refuseCallText(
  node: Node,
  account: string | null,
  { title, notes, guestName }: CallText,
): Promise<void> {
  if (guestName !== undefined) await refuseDisplayName('guestName', account ?? '', guestName)
  const texts = { name: title, notes: notes ?? undefined, guestName }
  await node.log.ask(GLOBAL, (view) => refuseNames(node, view, account ?? '', texts))
}
