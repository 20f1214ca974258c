import type { Client } from '#client/sdk/types'
import type { RoomRef } from '#shared/kit/primitives'
import { forgetGuest, guestWallet, isGuest } from '../accounts/guest.ts'
import { keepDraft } from '../messages/drafts.ts'
import { goTo } from '../rooms/route.ts'
import { keepRulesSeen } from '../rooms/seen-rules.ts'
import { refOf } from '../rooms/use-rooms.ts'
import { lobby, type TourStep } from './steps.ts'

/** Brings the page to where the step can be seen at once. */
export async function begin(client: Client, step: TourStep): Promise<void> {
  const account = await freshGuest(client)
  const room = step.channel ? await enterChannel(client, step.channel) : lobby
  keepRulesSeen(account, room)
  if (step.text) keepDraft(account, room, step.text)
  if (step.panel === 'moderation') await client.status.becomeModerator()
  goTo(room, step.panel)
}

/** Somebody new, whom no earlier step has changed; who has come in by another way stays who they are. */
async function freshGuest(client: Client): Promise<string> {
  if (client.account !== null && !isGuest(client.account)) return client.account
  if (client.account !== null) await client.signOut()
  forgetGuest()
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
