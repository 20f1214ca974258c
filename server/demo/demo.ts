import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordOf } from '#server/domains/events'
import { hasWaits } from '#server/domains/rooms/messages/live'
import { onlineCountIn } from '#server/domains/rooms/messages/presence'
import { demoChannels } from '#server/domains/rooms/room-state/demo-rooms'
import { ALPHA, ensureOfficial } from '#server/domains/rooms/rooms/alpha'
import { uniqueFormOf } from '#server/domains/rooms/rooms/names'
import { newSharedKey, topicOf } from '#server/domains/rooms/rooms/shared-key'
import { audiences, type Node } from '#server/kernel/context'
import { retryOnStart } from '#server/kernel/work/every'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { streams } from '#shared/api/streams/streams'
import { isSameAccount } from '#shared/kit/accounts'
import { roomKey } from '#shared/kit/primitives'
import { isAgent } from '#shared/kit/room-agents'
import { caretaker, people, settleAgents, settlePeople, tolerate, withMentions } from './agents.ts'
import { type Line, oneOf, readLine, type ScriptedLine, shuffled } from './script.ts'
import { type Stage, stages } from './stage.ts'

/** The event of the demo that no visitor was at. */
const dinner = { by: 'attendance', event_id: 103, name: 'Founders Dinner 2026', image_url: null } as const

/** A channel whose token visitors do not hold, so that they see what it is to be refused. */
async function foundDinner(node: Node): Promise<void> {
  if (!node.services.attendance?.isScripted) return
  const id = demoChannels.at(-1) ?? ''
  const room = { type: 'channel', id } as const
  const name = `Attendance: ${dinner.name}`
  await ensureOfficial(node, roomKey(room), {
    ...room,
    name,
    description: 'Community channel for holders of this attendance token.',
    emoji: '🎟️',
    category: 'events',
    messaging_type: 'p2p',
    p2p_content_topic: topicOf(name, id),
    gate: dinner,
    ...{ unique_name: uniqueFormOf(name), p2p_key: newSharedKey(node, roomKey(room)) },
  })
}

/** Past so many messages a room says no more. */
const mostMessages = 5_000
const recent = 30

/** The running dialogue of a demo room: its lines, their senders, and the time of the next line. */
class Life {
  readonly #node: Node
  readonly #stage: Stage
  readonly #signal: AbortSignal
  #ahead: (readonly Line[])[]
  #lines: Line[] = []
  #cast: string[] = []
  #before: string | null = null
  #restsUntil = 0

  constructor(node: Node, stage: Stage, signal: AbortSignal) {
    this.#node = node
    this.#stage = stage
    this.#signal = signal
    this.#ahead = shuffled(stage.dialogues.slice(stage.spoken))
  }

  get isReady(): boolean {
    return this.#node.now() >= this.#restsUntil
  }
  get isWatched(): boolean {
    return onlineCountIn(this.#node, roomKey(this.#stage.room)) > 0
  }

  /** One thing that somebody does here. */
  async goOn(): Promise<void> {
    const { total } = await this.#node.log.head(roomKey(this.#stage.room))
    if (total >= mostMessages) return
    const chance = randomInt(100)
    if (chance < 14) return this.#react()
    if (chance < 20 && this.#stage.polls.length > 0) return this.#vote()
    return this.#speak()
  }

  async #speak(): Promise<void> {
    const said = readLine(this.#nextLine())
    const sender = this.#cast[said.role] ?? oneOf(people)
    const { room, restSeconds } = this.#stage
    await tolerate(this.#node.callAs(sender, messages.typing, { room, on: true }))
    await this.#pause(Math.min(4_000, 600 + 30 * said.text.length))
    const reply_to = said.isReply ? this.#before : null
    const sent = await tolerate(
      this.#node.callAs(sender, messages.send, { room, text: withMentions(said.text), reply_to }),
    )
    this.#restsUntil = this.#node.now() + restSeconds * 1_000
    this.#before = sent?.message.id ?? null
    if (sent) await this.#afterwards(said, sender, sent.message.id)
  }

  async #afterwards({ corrected, reactions }: ScriptedLine, sender: string, id: string): Promise<void> {
    const { room } = this.#stage
    if (corrected !== null) {
      await this.#pause(2_500)
      await tolerate(this.#node.callAs(sender, messages.edit, { room, id, text: corrected }))
    }
    for (const emoji of reactions) {
      await this.#pause(randomInt(500, 2_000))
      const other = oneOf(people.filter((one) => !isSameAccount(one, sender)))
      await tolerate(this.#node.callAs(other, messages.react, { room, id, emoji, on: true }))
    }
  }

  /** The next of a dialogue; when all have been spoken they begin anew, in another order and with other people. */
  #nextLine(): Line {
    if (this.#lines.length === 0) {
      if (this.#ahead.length === 0) this.#ahead = shuffled(this.#stage.dialogues)
      this.#lines = [...(this.#ahead.shift() ?? [])]
      this.#cast = shuffled(people)
      this.#before = null
    }
    return this.#lines.shift() ?? 'a Hello'
  }

  async #react(): Promise<void> {
    const key = roomKey(this.#stage.room)
    const { seq } = await this.#node.log.head(key)
    const rows = await this.#node.log.read(key, Math.max(0, seq - recent), recent)
    const written = rows.filter(({ n }) => n !== null)
    if (written.length === 0) return
    const { _id: id, sender } = oneOf(written)
    const other = oneOf(people.filter((one) => !isSameAccount(one, sender)))
    const emoji = oneOf(['👍', '❤️', '😄', '👏'])
    await tolerate(this.#node.callAs(other, messages.react, { room: this.#stage.room, id, emoji, on: true }))
  }

  async #vote(): Promise<void> {
    const { room } = this.#stage
    const voter = oneOf(people)
    const listed = await tolerate(this.#node.callAs(voter, polls.list, { room }))
    const poll = listed?.polls.find(({ is_closed }) => !is_closed)
    if (!poll) return
    const options = poll.options.map((_, index) => index).filter((index) => !poll.user_votes.includes(index))
    await tolerate(this.#node.callAs(voter, polls.vote, { room, pollId: poll.id, optionIndex: oneOf(options) }))
  }

  #pause(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.#signal })
  }
}

/** A room that only the demo has. */
async function foundStage(node: Node, { room, channel }: Stage): Promise<void> {
  if (channel) await ensureOfficial(node, roomKey(room), { type: 'channel', id: room.id, ...channel })
}

/** Brings a room to where its story begins. Every step has a key of its own, so that a restart repeats none. */
async function seed(node: Node, stage: Stage, place: number): Promise<void> {
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

const streamer = 'demo:kofi'
const about = { title: 'The station clock', description: 'A clock that is made here, live all day.' }
const lookMilliseconds = 2_000

const lines = [
  'Good to see the clock again.',
  'The red square makes one lap a second, doesn’t it?',
  'I set my watch by this.',
  'What are the squares at the bottom?',
  'The time in milliseconds, as bits. Light is one.',
  'So you can read off the delay. Nice.',
  'Mine is a bit over a second behind.',
  'Greetings from the train!',
  'Does anybody else watch this while cooking?',
  'Seven minutes for the eggs, thank you.',
  'It never misses a beat.',
  'I like that nothing happens here.',
  'Something happens every second!',
  'Half past already?',
  'Who winds it up?',
  'It is made in the server, picture by picture.',
  'No camera at all?',
  'None. You can go live with one yourself, it is on the first page.',
  'See you at the full hour.',
  'I was here at the full hour yesterday. Worth it.',
]

/** Keeps one demo account live, if the provider makes a clock. Others write while the stream has viewers. */
export async function keepLive(node: Node, signal: AbortSignal): Promise<void> {
  const { video } = node.services
  if (!video?.publishClock) return
  let talkedOf = ''
  let talking = new AbortController()
  while (!signal.aborted) {
    try {
      const { stream } = await node.callAs(streamer, streams.create, about)
      await video.publishClock(stream.stream_id)
      if (stream.id !== talkedOf) {
        talking.abort()
        talking = new AbortController()
        talkedOf = stream.id
        void talk(node, stream.id, AbortSignal.any([signal, talking.signal]))
      }
    } catch {
      // The engine is starting, for the first time or again.
    }
    await sleep(lookMilliseconds, undefined, { ref: false })
  }
}

/** One line after the other, in another order each time. */
async function talk(node: Node, id: string, signal: AbortSignal): Promise<void> {
  const isWatched = () => node.live.audienceSize('/streams', audiences.stream(id)) > 0
  let ahead: string[] = []
  try {
    for (;;) {
      await sleep(randomInt(2_500, 8_000), undefined, { signal, ref: false })
      if (!isWatched()) continue
      if (ahead.length === 0) ahead = shuffled(lines)
      const message = ahead.shift() ?? ''
      await tolerate(node.callAs(oneOf(people.filter((one) => one !== streamer)), streams.say, { id, message }))
    }
  } catch (error) {
    if (!signal.aborted) node.logger.warn({ error }, 'the talk about the clock has ended')
  }
}

const alonePauseMilliseconds = 5 * 60_000

/** The scripted life of the demo: rooms with a past, and people who go on talking while somebody is there. */
export async function startDemo(
  node: Node,
  betweenActs: () => number = () => randomInt(1_500, 5_000),
): Promise<{ stop(): void }> {
  const ended = new AbortController()
  const founded = Promise.all(stages.map((stage) => retryOnStart(() => foundStage(node, stage))))
  showAround(node, founded, ended.signal)
  await founded
  await retryOnStart(() => foundDinner(node))
  await retryOnStart(() => settlePeople(node))
  if (node.services.model) await retryOnStart(() => settleAgents(node, ended.signal))
  await Promise.all(stages.map((stage, place) => retryOnStart(() => seed(node, stage, place))))
  void live(node, ended.signal, betweenActs)
  void keepLive(node, ended.signal)
  return { stop: () => ended.abort() }
}

/** Adds new guests to all rooms of the demo, even while those are being filled. */
function showAround(node: Node, founded: Promise<unknown>, signal: AbortSignal): void {
  node.log.onRows((key, rows) => {
    if (key !== ALPHA || signal.aborted) return
    for (const { type, target } of rows) {
      const joined = target !== null && recordOf(type)?.admits !== undefined
      const isGuest = joined && !people.includes(target) && !isAgent(target)
      if (isGuest) void founded.then(() => bringAlong(node, target)).catch(() => {})
    }
  })
}

async function bringAlong(node: Node, account: string): Promise<void> {
  const channels = stages.filter(({ channel }) => channel !== null)
  await Promise.all(channels.map(({ room }) => node.callAs(account, rooms.join, { room }))).catch((error: unknown) =>
    node.logger.warn({ error }, 'a newcomer was not shown around'),
  )
}

async function live(node: Node, signal: AbortSignal, betweenActs: () => number): Promise<void> {
  const rooms = stages.map((stage) => new Life(node, stage, signal))
  let seenAt = node.now()
  while (!signal.aborted) {
    try {
      await sleep(betweenActs(), undefined, { signal, ref: false })
      if (hasWaits(node) || node.live.audienceSize('/rooms', 'all') > 0) seenAt = node.now()
      if (node.now() - seenAt > alonePauseMilliseconds) continue
      const ready = rooms.filter(({ isReady }) => isReady)
      const watched = ready.filter(({ isWatched }) => isWatched)
      if (ready.length > 0) await oneOf(watched.length > 0 && randomInt(2) === 0 ? watched : ready).goOn()
    } catch (error) {
      if (!signal.aborted) node.logger.warn({ error }, 'the demo stumbled')
    }
  }
}
