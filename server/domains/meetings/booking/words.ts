import { refuseDisplayName } from '#server/domains/people/accounts/profile-changes'
import { refuseNames } from '#server/domains/rooms/room-state/judge-draft'
import type { Node } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'

interface Words {
  title?: string | undefined
  notes?: string | null | undefined
  guestName?: string | undefined
}

/** What others are shown of a call passes for nobody, and holds nothing that is blocked everywhere. */
export async function refuseWords(
  node: Node,
  account: string | null,
  { title, notes, guestName }: Words,
): Promise<void> {
  if (guestName !== undefined) await refuseDisplayName('guestName', account ?? '', guestName)
  const said = { name: title, notes: notes ?? undefined, guestName }
  await node.log.ask(GLOBAL, (view) => refuseNames(node, view, account ?? '', said))
}
