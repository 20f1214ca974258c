import { navigate } from 'wouter/use-browser-location'
import type { Client } from '#client/sdk/types'
import { AppError } from '#shared/errors'
import { linkTo } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { guestWallet } from '../accounts/sign-in/guest.ts'
import { agentDraftOf, keepDraft, keepText, readDraft, readText } from '../messages/drafts.ts'
import { goTo } from '../rooms/route.ts'
import { keepRulesSeen } from '../rooms/seen-rules.ts'
import { closeRoom, refOf } from '../rooms/use-rooms.ts'
import { tourTexts } from '../texts/tour.ts'
import { lobby, type TourStep } from './steps.ts'

/** Prepares a step and opens its room and panel. */
export async function begin(client: Client, step: TourStep): Promise<void> {
  const account = await takenBy(client)
  if (step.asksAgent) {
    const agent = await guideOf(client)
    const draft = agentDraftOf(account, agent.id)
    if (!readText(draft)) keepText(draft, agent.model === scripted ? endless : tourTexts.drafts.ask)
    return navigate(linkTo('agentChat', { agent: agent.id }))
  }
  const room = step.channel ? await enterChannel(client, step.channel) : lobby
  keepRulesSeen(account, room)
  const text = draftOf(step.name)
  if (text !== null && !readDraft(account, room)) keepDraft(account, room, text)
  if (step.panel === 'moderation') {
    await client.status.becomeModerator()
    closeRoom(client, room)
  }
  goTo(room, step.panel)
}

const draftOf = (name: TourStep['name']): string | null => {
  const drafts: Readonly<Partial<Record<TourStep['name'], string>>> = tourTexts.drafts
  return drafts[name] ?? null
}

const guide = 'Plaza Guide'
/** Where no model is configured, a script answers, and this is the question that it answers without an end. */
const scripted = 'scripted'
const endless = '/endless'

/** The official agent that knows Plaza's documentation; where somebody has taken it away, another one. */
async function guideOf(client: Client) {
  const { agents } = await client.agents.discover({ filter: 'official' })
  const known = agents.find(({ name }) => name === guide) ?? agents[0]
  if (!known) throw new AppError('AGENT_NOT_FOUND')
  return (await client.agents.get({ id: known.id })).agent
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
