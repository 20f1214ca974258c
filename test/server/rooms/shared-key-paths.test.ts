// Modes: embedded
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import type { Booted } from '#test/support/boot'
import { channelOf, moderates, type Person, people } from '#test/support/people'
import { bootShared, sealedUnder, sharedRoom } from '#test/support/shared-key'

let server: Booted
let [ada, bo, eve] = [] as unknown as [Person, Person, Person]
beforeAll(async () => {
  server = await bootShared()
  ;[ada, bo, eve] = await people(server, 'ada of paths', 'bo of paths', 'eve of paths')
})
afterAll(() => server.close())

type Shared = Awaited<ReturnType<typeof sharedRoom>>
const names = ['p2p-messages', 'waku-messages'] as const

/** Seals a text and posts it to the path of this name. */
function post(who: Person, { room, key }: Shared, text: string, name: (typeof names)[number] = 'p2p-messages') {
  const wakuMessageId = randomUUID()
  const content = sealedUnder(key, { room, sender: who.account, client_msg_id: wakuMessageId }, { text })
  const body = { content, wakuMessageId, senderAddress: who.account }
  return { body, answer: who.rest(`POST /api/channels/${room.id}/${name}`, body) }
}

test('messages under a shared key are sent to and told by the documented paths', async () => {
  const shared = await sharedRoom(ada, bo)
  const { id } = shared.room
  const rows: object[] = []
  for (const [who, name] of [
    [ada, 'p2p-messages'],
    [bo, 'waku-messages'],
  ] as const) {
    const { body, answer } = post(who, shared, `by ${name}`, name)
    const sent = await answer
    expect(sent).toMatchObject({ status: 200 })
    expect(sent.body.message).toEqual({
      id: expect.any(String),
      channel_id: id,
      sender_address: who.account,
      content: body.content,
      message_type: 'text',
      created_at: expect.any(String),
      waku_message_id: body.wakuMessageId,
    })
    rows.push({ ...Object(sent.body.message), content_topic: expect.stringMatching(/^\/plaza\/1\/channel-/) })
  }
  const told = await bo.does('rest', messages.sharedKeyHistory, { id })
  expect(told.messages).toEqual(rows)
  for (const name of names) expect((await ada.rest(`GET /api/channels/${id}/${name}`)).body).toEqual(told)
  const since = async (time: string) =>
    (await ada.does('rest', messages.sharedKeyHistory, { id, since: time })).messages
  expect(await since('2000-01-01T00:00:00Z')).toEqual(rows)
  expect(await since(told.messages[1]?.created_at ?? '')).toContainEqual(rows[1])
  expect(await since('2100-01-01T00:00:00Z')).toEqual([])
  const [first] = told.messages
  await ada.does('rest', messages.remove, { room: shared.room, id: first?.id ?? '' })
  expect((await ada.does('rest', messages.sharedKeyHistory, { id })).messages).toEqual(rows.slice(1))
})

test('a message that is sent again is the first', async () => {
  const shared = await sharedRoom(ada)
  const { body, answer } = post(ada, shared, 'once')
  const first = (await answer).body.message
  const again = await ada.rest(`POST /api/channels/${shared.room.id}/p2p-messages`, body)
  expect([again.status, again.body.message]).toEqual([200, first])
})

test('what nobody could open, as its sender gives no id that it is sealed with, is refused', async () => {
  const shared = await sharedRoom(ada)
  const at = { room: shared.room, sender: ada.account }
  const content = sealedUnder(shared.key, { ...at, client_msg_id: randomUUID() }, { text: 'for nobody' })
  const wrong = { status: 400, code: 'VALIDATION_ERROR', body: { error: expect.stringContaining('wakuMessageId') } }
  for (const name of names)
    for (const given of [{}, { wakuMessageId: null }, { wakuMessageId: '' }])
      expect(await ada.rest(`POST /api/channels/${shared.room.id}/${name}`, { content, ...given })).toMatchObject(wrong)
  expect((await ada.does('rest', messages.sharedKeyHistory, { id: shared.room.id })).messages).toEqual([])
  const key = { 'idempotency-key': randomUUID() }
  const sealed = sealedUnder(shared.key, { ...at, client_msg_id: key['idempotency-key'] }, { text: 'by a header' })
  expect((await ada.rest(`POST /api/channels/${shared.room.id}/p2p-messages`, { content: sealed }, key)).status).toBe(
    200,
  )
})

test('rooms without a shared key are refused, and nothing is stored there in clear', async () => {
  const room = await channelOf(ada)
  const wrong = {
    status: 400,
    code: 'VALIDATION_ERROR',
    body: { error: expect.stringContaining('Wrong channel type') },
  }
  for (const name of names) {
    expect(await ada.rest(`GET /api/channels/${room.id}/${name}`)).toMatchObject(wrong)
    expect(await ada.rest(`POST /api/channels/${room.id}/${name}`, { content: 'a secret' })).toMatchObject(wrong)
  }
  expect(await ada.refused('socket', messages.send, { room, text: 'a secret', sealed_by: 'shared-key' })).toMatchObject(
    {
      code: 'VALIDATION_ERROR',
    },
  )
  expect((await ada.does('rest', messages.history, { room })).messages).toEqual([])
  expect(await ada.rest('GET /api/channels/global/p2p-messages')).toMatchObject(wrong)
})

test('only members read and write, and what they write is sealed', async () => {
  const shared = await sharedRoom(ada, bo)
  const { id } = shared.room
  const read = (who: Person) => who.refused('rest', messages.sharedKeyHistory, { id })
  expect(await read(eve)).toMatchObject({ status: 403, code: 'NOT_A_MEMBER' })
  expect((await post(eve, shared, 'let me in').answer).status).toBe(403)
  const clear = await bo.rest(`POST /api/channels/${id}/p2p-messages`, { content: 'in clear' })
  expect(clear).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  await moderates(ada, { room: shared.room, action: 'ban', target: bo.account })
  expect(await read(bo)).toMatchObject({ status: 403, code: 'BANNED' })
  expect(await post(bo, shared, 'still here').answer).toMatchObject({ status: 403, code: 'BANNED' })
  expect(await ada.refused('rest', messages.sharedKeyHistory, { id: randomUUID() })).toMatchObject({
    status: 404,
    code: 'ROOM_NOT_FOUND',
  })
  expect((await ada.does('rest', messages.sharedKeyHistory, { id })).messages).toEqual([])
})
