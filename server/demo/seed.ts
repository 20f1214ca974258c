import { ensureOfficial } from '#server/domains/rooms/rooms/alpha'
import type { Node } from '#server/kernel/context'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { isSameAccount } from '#shared/kit/accounts'
import { roomKey } from '#shared/kit/primitives'
import { caretaker, people, tolerate } from './people.ts'
import { readLine } from './script.ts'
import type { Stage } from './stage.ts'

/** A room that only the demo has. */
export async function foundStage(node: Node, { room, channel }: Stage): Promise<void> {
  if (channel) await ensureOfficial(node, roomKey(room), { type: 'channel', id: room.id, ...channel })
}

/** Brings a room to where its story begins. Every step has a key of its own, so that a restart repeats none. */
export async function seed(node: Node, stage: Stage, place: number): Promise<void> {
  const { room, rules, pinned } = stage
  const keyed = (step: string) => `demo-seed:${place}:${step}`
  for (const person of people) await tolerate(node.callAs(person, rooms.join, { room }))
  const welcome = { room, text: pinned, client_msg_id: keyed('pinned') }
  const sent = await tolerate(node.callAs(caretaker, messages.send, welcome))
  const pin = { room, id: sent?.message.id ?? '', pinned: true, client_action_id: keyed('pin') }
  if (sent) await tolerate(node.callAs(caretaker, messages.pin, pin))
  for (let at = 0; at < stage.spoken; at++) await speak(node, stage, at, castOf(3 * place + at), keyed)
  for (const [at, poll] of stage.polls.entries()) await ask(node, stage, poll, (step) => keyed(`poll${at}:${step}`))
  await flag(node, stage, keyed)
  const settings = { room, action: 'rules' as const, patch: { rules }, client_action_id: keyed('rules') }
  await tolerate(node.callAs(caretaker, moderation.act, settings))
}

/** Four people, others for every number. */
const castOf = (number: number): string[] =>
  [0, 1, 2, 3].map((role) => people[(number * 3 + role) % people.length] ?? caretaker)

type Keyed = (step: string) => string

async function speak(node: Node, { room, dialogues }: Stage, at: number, cast: string[], keyed: Keyed): Promise<void> {
  let before: string | null = null
  for (const [line, spoken] of (dialogues[at] ?? []).entries()) {
    const { role, isReply, text, corrected, reactions } = readLine(spoken, () => 0)
    const sender = cast[role] ?? caretaker
    const step = (what: string) => keyed(`${at}.${line}:${what}`)
    const draft = { room, text, client_msg_id: step('send'), reply_to: isReply ? before : null }
    const sent = await tolerate(node.callAs(sender, messages.send, draft))
    if (!sent) continue
    const id: string = sent.message.id
    before = id
    const edit = { room, id, text: corrected ?? text, client_action_id: step('edit') }
    if (corrected !== null) await tolerate(node.callAs(sender, messages.edit, edit))
    for (const [place, emoji] of reactions.entries())
      for (const person of people.filter((one) => !isSameAccount(one, sender)).slice(place, 2 + place + (line % 3)))
        await tolerate(
          node.callAs(person, messages.react, {
            room,
            id,
            emoji,
            on: true,
            client_action_id: step(`${place}${person}`),
          }),
        )
  }
}

async function ask(node: Node, { room }: Stage, poll: Stage['polls'][number], keyed: Keyed): Promise<void> {
  const asked = await tolerate(
    node.callAs(caretaker, polls.create, { room, ...poll, options: [...poll.options], client_msg_id: keyed('ask') }),
  )
  if (!asked || asked.poll.total_votes > 0) return
  for (const [at, person] of people.slice(0, 5).entries()) {
    const vote = { room, pollId: asked.poll.id, optionIndex: (at * at) % poll.options.length }
    await tolerate(node.callAs(person, polls.vote, { ...vote, client_action_id: keyed(person) }))
  }
}

/** A word that the moderators want to hear of, and a message that has it. */
async function flag(node: Node, { room, flagged }: Stage, keyed: Keyed): Promise<void> {
  if (!flagged) return
  const { word, text, sender } = flagged
  const patch = { word, word_action: 'flag' as const }
  const rule = { room, action: 'word_add' as const, patch, client_action_id: keyed('word') }
  await tolerate(node.callAs(caretaker, moderation.act, rule))
  await tolerate(node.callAs(sender, messages.send, { room, text, client_msg_id: keyed('flagged') }))
}
