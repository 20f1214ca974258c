// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reactionChanged } from '#server/domains/rooms/room-state/events/messages'
import { entryOf } from '#server/domains/rooms/room-state/standing'
import { fakeVideo } from '#server/ports/video/fake'
import { messages } from '#shared/api/rooms/messages'
import { streams } from '#shared/api/streams/streams'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { type Booted, boot } from '#test/support/boot'
import { clientOf, shows } from '#test/support/direct-clients'
import { channelOf, over, type Person, people, say } from '#test/support/people'

const [bare, heart] = ['\u2764', '\u2764\ufe0f']
const forms = [bare, heart, '\u2764\ufe0e', '\u2764\u200b']
let server: Booted
let owner: Person
let member: Person

beforeAll(async () => {
  server = await boot({ services: { video: fakeVideo() } })
  ;[owner, member] = await people(server, 'owner', 'member')
})
afterAll(() => server.close())

const reactionsOf = async (room: RoomRef, id: string) => {
  const { messages: shown, reactions } = await member.does('rest', messages.history, { room })
  return [shown.find((message) => message.id === id)?.reactions, reactions.map(({ emoji }) => emoji)]
}

/** What an older version took: signs in the forms in which they were sent. */
async function reactedBefore(room: RoomRef, id: string, { account }: Person, signs: readonly string[]) {
  const mine = signs.map((emoji, at) => ({ id: `${id}-${at}`, emoji, at: new Date().toISOString() }))
  const counts = Object.fromEntries(signs.map((emoji) => [emoji, 1]))
  const body = { id, emoji: signs[0] ?? '', on: true, counts, mine }
  await server.apps[0]?.node.log.act(roomKey(room), {
    sender: account,
    cid: crypto.randomUUID(),
    makes: reactionChanged,
    judge: (view) => ({ accept: entryOf(view, { account, name: 'Old', role: 'member' }, reactionChanged, body) }),
  })
}

test.each(over)('N29: one sign is one reaction over %s, in whichever form it is sent', async (door) => {
  const room = await channelOf(owner, member)
  const { id } = await say(owner, room, 'to be loved')
  for (const emoji of forms)
    expect((await owner.does(door, messages.react, { room, id, emoji, on: true })).counts).toEqual({ [heart]: 1 })
  expect((await member.does(door, messages.react, { room, id, emoji: bare })).counts).toEqual({ [heart]: 2 })
  expect(await reactionsOf(room, id)).toEqual([{ [heart]: 2 }, [heart, heart]])
  const toggled = await member.rest(`PATCH /api/channels/${room.id}/messages`, { messageId: id, emoji: forms[2] })
  expect(toggled.body).toMatchObject({ action: 'removed' })
  expect((await owner.does(door, messages.react, { room, id, emoji: bare, on: false })).counts).toEqual({})
})

test.each(over)('N29: what is not seen makes no other reaction over %s', async (door) => {
  const room = await channelOf(owner, member)
  const { id } = await say(owner, room, 'to be liked')
  const like = (emoji: string) => ({ room, id, emoji, on: true })
  for (const hidden of [
    '',
    '\u00ad',
    '\u034f',
    '\u180e',
    '\u{e0001}',
    '\ufe00',
    '\u{e0100}',
    '\u2063',
    '\u200d',
    '\u2800',
  ])
    expect((await owner.does(door, messages.react, like(`\u{1f44d}${hidden}`))).counts).toEqual({ '\u{1f44d}': 1 })
  expect(await owner.refused(door, messages.react, like('\u00ad'))).toMatchObject({ status: 400 })
})

test('N29: what an older version stored is summed, and taken back by any form of the sign', async () => {
  const room = await channelOf(owner, member)
  const { id } = await say(owner, room, 'long loved')
  await reactedBefore(room, id, owner, forms.slice(0, 2))
  expect(await reactionsOf(room, id)).toEqual([{ [heart]: 2 }, [heart, heart]])
  const { events } = await member.does('rest', messages.sync, { room })
  expect(JSON.stringify(events)).not.toMatch(new RegExp(`"${bare}"`))
  expect((await member.does('rest', messages.react, { room, id, emoji: bare })).counts).toEqual({ [heart]: 3 })
  expect(await owner.does('rest', messages.react, { room, id, emoji: heart })).toMatchObject({
    on: false,
    counts: { [heart]: 1 },
  })
})

test('N29: the SDK counts one sign once', async () => {
  const [ada, bob] = [await clientOf(server, 'ada'), await clientOf(server, 'bob')]
  const { channel } = await ada.rooms.createChannel({ name: `Signs ${crypto.randomUUID()}` })
  const ref = { type: 'channel', id: channel.id } as const
  await bob.rooms.join({ room: ref })
  const [ofAda, ofBob] = [ada.room(ref), bob.room(ref)]
  await expect.poll(() => [ofAda.state.status, ofBob.state.status]).toEqual(['live', 'live'])
  ofAda.send({ text: 'hello' })
  await shows(ofBob, 'hello')
  const id = ofBob.state.messages[0]?.id ?? ''
  await ofAda.react(id, bare)
  await ofBob.react(id, heart)
  for (const open of [ofAda, ofBob]) await expect.poll(() => open.state.messages[0]?.reactions).toEqual({ [heart]: 2 })
  for (const client of [ada, bob]) await client.signOut()
})

test('N57: the SDK knows the own reactions from events and from history, of every device, and takes them back', async () => {
  const [ada, elsewhere, bob] = await Promise.all(['eve', 'eve', 'finn'].map((name) => clientOf(server, name)))
  if (!ada || !elsewhere || !bob) throw new Error('Nobody is there')
  const { channel } = await ada.rooms.createChannel({ name: `Own ${crypto.randomUUID()}` })
  const ref = { type: 'channel', id: channel.id } as const
  await bob.rooms.join({ room: ref })
  const [open, ofBob] = [ada.room(ref), bob.room(ref)]
  await expect.poll(() => [open.state.status, ofBob.state.status]).toEqual(['live', 'live'])
  open.send({ text: 'hello' })
  await shows(ofBob, 'hello')
  const own = (room = open) => room.state.messages[0]?.reacted
  const { id = '', seq = 0 } = ofBob.state.messages[0] ?? {}
  await open.react(id, bare)
  await ofBob.react(id, '🎉')
  await expect.poll(() => open.state.messages[0]?.reactions).toEqual({ [heart]: 1, '🎉': 1 })
  expect([own(), own(ofBob)]).toEqual([[heart], ['🎉']])
  await elsewhere.messages.react({ room: ref, id, emoji: '🔥' })
  await expect.poll(() => own()).toEqual([heart, '🔥'])
  await open.loadAround(seq)
  expect(own()).toEqual([heart, '🔥'])
  await open.react(id, heart)
  expect(own()).toEqual(['🔥'])
  await open.loadNewest()
  expect(own()).toEqual(['🔥'])
  for (const client of [ada, elsewhere, bob]) await client.signOut()
})

test('N29: a reaction in the chat of a stream is stored and shown in the one form', async () => {
  const { stream } = await owner.does('rest', streams.create, { title: 'Loved' })
  const { id } = stream
  for (const message of forms) {
    const said = await member.does('rest', streams.say, { id, message, type: 'reaction' })
    expect(said.message).toMatchObject({ type: 'reaction', content: heart })
  }
  await member.does('rest', streams.say, { id, message: bare })
  const { messages: rows } = await owner.does('rest', streams.chat, { id })
  expect(rows.map(({ type, message }) => [type, message])).toEqual(Array(5).fill(['reaction', heart]))
})
