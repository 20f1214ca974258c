import type { Client } from '#client/sdk/types'
import type { RoomRef } from '#shared/kit/primitives'
import { guestWallet } from '../accounts/guest.ts'
import { keepDraft, readDraft } from '../messages/drafts.ts'
import { closeRoom } from '../rooms/open-rooms.ts'
import { goTo } from '../rooms/route.ts'
import { keepRulesSeen } from '../rooms/seen-rules.ts'
import { refOf } from '../rooms/use-rooms.ts'
import { lobby, type TourStep } from './steps.ts'

/** Prepares a step and opens its room and panel. */
export async function begin(client: Client, step: TourStep): Promise<void> {
  const account = await takenBy(client)
  const room = step.channel ? await enterChannel(client, step.channel) : lobby
  keepRulesSeen(account, room)
  if (step.text && !readDraft(account, room)) keepDraft(account, room, step.text)
  if (step.panel === 'moderation') {
    await client.status.becomeModerator()
    closeRoom(client, room)
  }
  goTo(room, step.panel)
}

/** Signs in for the tour: the current account, else the guest of this browser. */
async function takenBy(client: Client): Promise<string> {
  if (client.account !== null) return client.account
  const wallet = await guestWallet()
  await client.signIn(wallet)
  return wallet.address
}

async function enterChannel(client: Client, slug: string): Promise<RoomRef> {
  const { room } = await client.rooms.get({ room: { type: 'channel', id: slug } })
  const ref = refOf(room)
  if (!room.is_member) await client.rooms.join({ room: ref })
  return ref
}
