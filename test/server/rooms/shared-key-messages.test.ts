// Modes: embedded
import { createDecipheriv, randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { decryptMedia, uploadFile, uploadImage } from '#client/sdk/media'
import type { Client } from '#client/sdk/types'
import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import { entryOf } from '#server/domains/rooms/room-state/standing'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { roomKey } from '#shared/kit/room-key'
import type { Booted } from '#test/support/boot'
import { clientOf, shows } from '#test/support/direct-clients'
import { moderates, over, type Person, people } from '#test/support/people'
import { bootShared, sealedUnder, sharedRoom } from '#test/support/shared-key'

let server: Booted
let [ada, bo, eve] = [] as unknown as [Person, Person, Person]
const open = new Set<Client>()
beforeAll(async () => {
  server = await bootShared()
  ;[ada, bo, eve] = await people(server, 'ada shares', 'bo shares', 'eve shares')
})
afterAll(() => server.close())
afterEach(() => {
  for (const client of open) client.close()
  open.clear()
})
const enter = async (name: string) => {
  const client = await clientOf(server, name, { keys: null })
  open.add(client)
  return client
}

test('two members exchange messages, replies and edits, without any keys of their devices', async () => {
  const { room } = await sharedRoom(ada, bo)
  const [hers, his] = [(await enter('ada shares')).room(room), (await enter('bo shares')).room(room)]
  hers.send({ text: 'Meet me at the old mill' })
  await shows(his, 'Meet me at the old mill')
  his.send({ text: 'At nine?', reply_to: his.state.messages[0]?.id ?? null })
  await shows(hers, 'Meet me at the old mill', 'At nine?')
  expect(hers.state.messages[1]).toMatchObject({
    secrecy: { state: 'clear', isSecret: true, epochId: null },
    reply_to: { id: his.state.messages[0]?.id, content: 'Meet me at the old mill' },
  })
  await hers.edit(hers.state.messages[0]?.id ?? '', 'Meet me at the new mill')
  await shows(his, 'Meet me at the new mill', 'At nine?')
  const { events } = await ada.does('rest', messages.sync, { room })
  expect(JSON.stringify(events)).not.toMatch(/mill|nine|"reply_to_id":"/)
})

test.each(over)('what is not sealed is refused over %s, and stored nowhere', async (door) => {
  const { room, key } = await sharedRoom(ada)
  const place = { room, sender: ada.account, client_msg_id: 'one' }
  const good = sealedUnder(key, place, { text: 'good' })
  const version = (byte: number) => Buffer.from(good, 'base64').fill(byte, 0, 1).toString('base64')
  for (const text of ['hello', version(1), version(3), `${good.slice(0, -1)}!`, Buffer.alloc(29, 2).toString('base64')])
    expect(await ada.refused(door, messages.send, { room, text })).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
    })
  const { events } = await ada.does(door, messages.sync, { room })
  expect(events.filter(({ type }) => type === 'message.created')).toEqual([])
})

/** What a client without the SDK sends of a message. */
function written(key: Buffer, room: { id: string }, who: Person, inner: object, iv = randomBytes(12)) {
  const client_msg_id = crypto.randomUUID()
  const text = sealedUnder(key, { room, sender: who.account, client_msg_id }, inner, iv)
  return { room: { type: 'channel', id: room.id } as const, client_msg_id, text }
}

test('who speaks REST alone is given the key, seals and edits by the documented format, and opens what others send', async () => {
  const { room } = await sharedRoom(ada, bo)
  const path = `/api/rooms/channel/${room.id}`
  const { body } = await bo.rest(`GET ${path}/key`)
  const key = Buffer.from(String(body.p2p_symmetric_key), 'base64')
  const [hers, client_msg_id] = [(await enter('ada shares')).room(room), crypto.randomUUID()]
  const place = { room, sender: bo.account, client_msg_id }
  const sent = await bo.rest(`POST ${path}/messages`, {
    client_msg_id,
    text: sealedUnder(key, place, { text: 'by hand' }),
  })
  expect(sent.status).toBe(200)
  await shows(hers, 'by hand')
  const { id } = sent.body.message as { id: string }
  const edited = { text: sealedUnder(key, place, { text: 'by another hand' }) }
  expect((await bo.rest(`PATCH ${path}/messages/${id}`, edited)).status).toBe(200)
  await shows(hers, 'by another hand')
  hers.send({ text: 'by the SDK' })
  await shows(hers, 'by another hand', 'by the SDK')
  await expect.poll(() => hers.state.messages[1]?.local).toBe('sent')
  const { messages: rows } = await bo.does('rest', messages.history, { room })
  const last = rows.at(-1) ?? expect.fail()
  expect(openedBy(key, room, last)).toMatchObject({ type: 'text', text: 'by the SDK' })
  expect(last).toMatchObject({ message_type: 'text', reply_to_id: null, attachments: [], mentions: [] })
})

test.each(over)('type, reply, names, attachments and polls beside the ciphertext are refused over %s', async (door) => {
  const { room, key } = await sharedRoom(ada)
  const first = await ada.does(door, messages.send, written(key, room, ada, { text: 'first' }))
  const url = 'https://example.com/a.bin'
  for (const beside of [
    { type: 'photo' as const },
    { reply_to: first.message.id },
    { attachments: [{ url }] },
    { mentions: [{ kind: 'user' as const, id: ada.account, start: 0, len: 1 }] },
  ])
    expect(
      await ada.refused(door, messages.send, { ...written(key, room, ada, { text: 'second' }), ...beside }),
    ).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  const poll = { room, question: 'Who comes?', options: ['I', 'not I'] }
  expect(await ada.refused(door, polls.create, poll)).toMatchObject({
    status: 400,
    message: 'room: a poll cannot be sealed, so rooms with a shared key have none',
  })
  expect(await ada.refused(door, messages.search, { room, query: 'first' })).toMatchObject({
    status: 400,
    message: 'Messages of rooms with a shared key are ciphertext and cannot be searched here',
  })
  expect((await ada.does(door, messages.check, { room, text: 'in clear' })).verdict).toMatchObject({
    ok: false,
    code: 'VALIDATION_ERROR',
  })
  const { text } = written(key, room, ada, { text: 'would pass' })
  expect((await ada.does(door, messages.check, { room, text })).verdict.ok).toBe(true)
})

test.each(over)(
  'a vector that was used with the key before is refused over %s, and the same message is not',
  async (door) => {
    const { room, key } = await sharedRoom(ada, bo)
    const iv = randomBytes(12)
    const first = written(key, room, ada, { text: 'one' }, iv)
    await ada.does(door, messages.send, first)
    expect(await ada.does(door, messages.send, first)).toMatchObject({ duplicate: true })
    for (const who of [ada, bo])
      expect(await who.refused(door, messages.send, written(key, room, who, { text: 'two' }, iv))).toMatchObject({
        status: 409,
        code: 'CONFLICT',
      })
    // Who is no member uses up nothing.
    const free = randomBytes(12)
    expect(await eve.refused(door, messages.send, written(key, room, eve, { text: 'three' }, free))).toMatchObject({
      code: 'NOT_A_MEMBER',
    })
    await ada.does(door, messages.send, written(key, room, ada, { text: 'four' }, free))
  },
)

test('one vector in two rooms is no repeat, as each has a key of its own', async () => {
  const iv = randomBytes(12)
  for (const { room, key } of [await sharedRoom(ada), await sharedRoom(ada)])
    await ada.does('rest', messages.send, written(key, room, ada, { text: 'one' }, iv))
})

test('membership, mutes, read-only, slow mode and length are judged as anywhere', async () => {
  const { room, key } = await sharedRoom(ada, bo)
  const settle = (rules: object) => moderates(ada, { room, action: 'rules', patch: { rules } })
  const refused = (text = 'hi') => bo.refused('socket', messages.send, written(key, room, bo, { text }))
  expect(await eve.refused('rest', messages.send, { room, text: 'in clear' })).toMatchObject({ code: 'NOT_A_MEMBER' })
  await settle({ max_message_length: 500 })
  expect(await refused('x'.repeat(4_000))).toMatchObject({ code: 'MESSAGE_TOO_LONG' })
  await settle({ read_only: true })
  expect(await refused()).toMatchObject({ code: 'READ_ONLY' })
  await settle({ read_only: false, slow_mode_seconds: 60, photos_allowed: 'disabled' })
  await bo.does('socket', messages.send, written(key, room, bo, { text: '🎟️'.repeat(250) }))
  expect(await refused()).toMatchObject({ code: 'SLOW_MODE' })
  const { me } = await bo.does('socket', messages.join, { room })
  expect([me.capabilities.text, me.capabilities.photo, me.capabilities.poll]).toMatchObject([
    { ok: true },
    { code: 'CONTENT_NOT_ALLOWED' },
    { ok: false },
  ])
  await moderates(ada, { room, action: 'mute', target: bo.account })
  expect(await refused()).toMatchObject({ code: 'MUTED' })
})

test('what was stored in clear before stays readable, is said never to have been secret, and is sealed by an edit', async () => {
  const { room, key } = await sharedRoom(ada, bo)
  const message = await saidBefore(room, 'said in clear')
  const hers = (await enter('ada shares')).room(room)
  const { poll } = expect
  await poll(() => hers.state.messages[0]?.secrecy).toMatchObject({ state: 'clear', isSecret: false })
  await shows(hers, 'said in clear')
  await hers.edit(message.id, 'said again')
  await shows(hers, 'said again')
  expect(hers.state.messages[0]?.secrecy).toMatchObject({ state: 'clear', isSecret: true })
  const { messages: rows } = await bo.does('rest', messages.history, { room })
  expect(rows.map((row) => openedBy(key, room, row).text)).toEqual(['said again'])
})

test('who is no member any more opens nothing, and does again once they are', async () => {
  const { room, key } = await sharedRoom(ada, bo)
  const client = await enter('bo shares')
  const his = client.room(room)
  await ada.does('rest', messages.send, written(key, room, ada, { text: 'for members' }))
  await shows(his, 'for members')
  await ada.does('rest', rooms.kick, { room, address: bo.account })
  await shows(his, 'locked: no member')
  expect(await bo.refused('rest', rooms.sharedKey, { room })).toMatchObject({ code: 'NOT_A_MEMBER' })
  await client.rooms.join({ room })
  await shows(his, 'for members')
})

test('an inside that is no message, and one that was moved, are said to be none', async () => {
  const { room, key } = await sharedRoom(ada, bo)
  await ada.does('rest', messages.send, written(key, room, ada, { text: 'look', attachments: {} }))
  const { text } = written(key, room, ada, { text: 'moved' })
  await bo.does('rest', messages.send, { room, text })
  await bo.does('rest', messages.send, written(key, room, bo, { text: 'whole' }))
  await shows((await enter('ada shares')).room(room), 'locked: malformed', 'locked: damaged', 'whole')
})

test('a picture is sealed by the key of its room, and kept as long as its message', async () => {
  const { room } = await sharedRoom(ada, bo)
  const [one, two] = [await enter('ada shares'), await enter('bo shares')]
  const { key, epochId } = await one.room(room).conversationKey()
  expect(epochId).toBeNull()
  const image = new Blob(['a picture'], { type: 'image/png' })
  const { marker, url } = await uploadImage(one, { image, key, conversationId: room.id })
  one.room(room).send({ text: marker })
  const his = two.room(room)
  await shows(his, marker)
  const stored = () => fetch(`${server.url}${new URL(url).pathname}`)
  const sealed = await (await stored()).blob()
  expect(await sealed.text()).not.toContain('a picture')
  const theirs = await his.conversationKey(his.state.messages[0]?.secrecy?.epochId)
  expect(await (await decryptMedia(sealed, theirs.key)).text()).toBe('a picture')
  await one.room(room).remove(his.state.messages[0]?.id ?? '')
  await expect.poll(async () => (await stored()).status).toBe(404)
})

test('a file is sealed with its name by the key of its room, whose rule its members are told', async () => {
  const { room } = await sharedRoom(ada, bo)
  const allowed = async () => (await bo.does('socket', messages.join, { room })).me.capabilities.file?.ok
  expect(await allowed()).toBe(false)
  await moderates(ada, { room, action: 'rules', patch: { rules: { files_allowed: 'everyone' } } })
  expect(await allowed()).toBe(true)
  const [one, two] = [await enter('ada shares'), await enter('bo shares')]
  const { key } = await one.room(room).conversationKey()
  const seal = { key, conversationId: room.id }
  const { attachment } = await uploadFile(one, { file: new Blob(['a plan']), name: 'Secret plan.pdf', seal })
  one.room(room).send({ text: attachment.name, attachments: [attachment] })
  const his = two.room(room)
  await shows(his, 'Secret plan.pdf')
  expect(his.state.messages[0]?.attachments).toEqual([attachment])
  expect(JSON.stringify(await bo.does('rest', messages.sync, { room }))).not.toContain('Secret plan')
  const stored = () => fetch(`${server.url}${new URL(attachment.url).pathname}`)
  expect(await (await stored()).text()).not.toContain('a plan')
  await one.room(room).remove(his.state.messages[0]?.id ?? '')
  await expect.poll(async () => (await stored()).status).toBe(404)
})

test('the list of rooms names what was said without showing it, but for what was stored in clear before', async () => {
  const { room, key } = await sharedRoom(ada)
  await saidBefore(room, 'said in clear')
  const preview = async () => {
    const { rooms: listed } = await ada.does('rest', inbox.list, {})
    return listed.find(({ id }) => id === room.id)?.last_message?.preview
  }
  expect(await preview()).toBe('said in clear')
  await ada.does('rest', messages.send, written(key, room, ada, { text: 'one' }))
  expect(await preview()).toBe('Sealed message')
})

/** What is sealed in a message, opened as the documents say. */
function openedBy(
  key: Buffer,
  room: { id: string },
  row: { sender_address: string; client_msg_id: string; content: string },
) {
  const bytes = Buffer.from(row.content, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 13))
  decipher.setAAD(Buffer.from([room.id, row.sender_address, row.client_msg_id].join('\n')))
  decipher.setAuthTag(bytes.subarray(-16))
  return JSON.parse(`${decipher.update(bytes.subarray(13, -16))}${decipher.final()}`) as { type: string; text: string }
}

/** A message in clear, as an older version took it. */
async function saidBefore(room: { type: 'channel'; id: string }, text: string): Promise<{ id: string }> {
  const said = { text, type: 'text', attachments: [], mentions: [], flagged: [], edits: [], reactions: {}, version: 1 }
  const nothing = { reply_to: null, poll_id: null, edited_at: null, deleted: null, pinned: null }
  const actor = { account: ada.account, name: 'Ada', role: 'owner' } as const
  const { row } =
    (await server.apps[0]?.node.log.act(roomKey(room), {
      sender: ada.account,
      cid: crypto.randomUUID(),
      makes: messageCreated,
      judge: (view) => ({ accept: entryOf(view, actor, messageCreated, { ...said, ...nothing }) }),
    })) ?? expect.fail()
  return { id: row?._id ?? '' }
}
