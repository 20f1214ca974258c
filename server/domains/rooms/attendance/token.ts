import { walletsOf } from '#server/domains/rooms/tokens/wallets'
import type { Node } from '#server/kernel/context'
import type { AttendanceGate } from '#shared/api/rooms/gates'
import { lookupsOf } from './lookups.ts'

type Token = Pick<AttendanceGate, 'name' | 'image_url'>

/** The provider's name and image of a token that this account holds; the client's claims are ignored. */
export async function tokenOf(node: Node, account: string, gate: AttendanceGate): Promise<Token> {
  // The account holds it, as was checked before. Without a name, it gets its number.
  const found = await foundAt(node, account, gate).catch(() => null)
  return {
    name:
      found?.name ?? (gate.event_id === undefined ? `Collection #${gate.collection_id}` : `Event #${gate.event_id}`),
    image_url: found?.image_url ?? null,
  }
}

async function foundAt(
  node: Node,
  account: string,
  { event_id, collection_id }: AttendanceGate,
): Promise<{ name: string | null; image_url: string | null } | null> {
  const { attendance } = node.services
  const lookups = attendance && lookupsOf(node, attendance)
  if (!lookups) return null
  if (event_id === undefined) {
    const { answer = null } = (await lookups.collections?.get(collection_id ?? 0)) ?? {}
    return answer && { name: answer.title, image_url: answer.logoImageUrl }
  }
  const wallets = await walletsOf(account)
  // A cached answer may be older than the token.
  for (const atMostSeconds of [undefined, 0])
    for (const { address } of wallets) {
      const { answer } = await lookups.eventsOf(address, atMostSeconds)
      const event = answer.find(({ id }) => id === event_id)
      if (event) return { name: event.name, image_url: event.imageUrl }
    }
  return null
}
