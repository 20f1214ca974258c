import { beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Capabilities } from '#shared/api/rooms'
import {
  act,
  alpha,
  appoint,
  channelOf,
  check,
  done,
  doors,
  listenTo,
  nobody,
  type Place,
  type Somebody,
  send,
} from '#test/support/community'
import { communityOf } from '#test/support/community-of'

const { server, owner, mod, member, admin } = await communityOf(['owner', 'mod', 'member', 'admin'], {
  admins: ['admin'],
})
let room: Place & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member)
  await appoint(owner, room, mod)
})

const rule = (who: Somebody, rules: object, chat: Place = room) =>
  who.call('POST /api/chat-rules', { chatType: chat.type, chatId: chat.id, rules })
const ruled = async (rules: object) => (await done(rule(owner, rules))).rules
const rulesOf = async (chat = `chatType=channel&chatId=${room.id}`) =>
  (await done(nobody(server)(`GET /api/chat-rules?${chat}`))).rules

const defaults = {
  links_allowed: 'everyone',
  photos_allowed: 'everyone',
  pixel_art_allowed: 'everyone',
  gifs_allowed: 'everyone',
  polls_allowed: 'everyone',
  location_sharing_allowed: 'everyone',
  voice_allowed: 'everyone',
  read_only: false,
  slow_mode_seconds: 0,
  max_message_length: 0,
  rules_text: null,
  read_access: 'everyone',
}

test('M32: a room without rules has the defaults, and the id that they keep once they are set', async () => {
  const rules = await rulesOf()
  expect(rules).toMatchObject({
    ...defaults,
    chat_type: 'channel',
    chat_id: room.id,
    updated_by: null,
    updated_at: null,
  })
  await done(act(owner, room, 'rules', { patch: { rules: { rules_text: 'Be kind.' } } }))
  expect((await rulesOf()) as object).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
    rules_text: 'Be kind.',
  })
  expect((await rulesOf()) as object).toMatchObject({ id: (rules as { id: string }).id })
  expect(await rulesOf('chatType=alpha&chatId=null')).toMatchObject({ chat_type: 'alpha', chat_id: null })
})

test.each(doors)('rules are changed over %s a few at a time, and everybody here learns of it', async (door) => {
  const live = await listenTo(member, room)
  const change = (rules: object) => act(owner, room, 'rules', { patch: { rules } }, door)
  const { body } = await change({ max_message_length: 20, rules_text: 'Be kind.' })
  expect(body.record).toMatchObject({
    max_message_length: 20,
    rules_text: 'Be kind.',
    links_allowed: 'everyone',
    rules_version: 1,
  })
  await change({ links_allowed: 'disabled' })
  expect(await rulesOf()).toMatchObject({
    max_message_length: 20,
    rules_text: 'Be kind.',
    links_allowed: 'disabled',
    rules_version: 2,
    updated_by: owner.account,
  })
  await expect.poll(() => live.events().filter(({ type }) => type === 'rules.updated')).toHaveLength(2)
  await expect.poll(() => live.events().at(-1)?.data).toMatchObject({ version: 2, diff: { links_allowed: 'disabled' } })
  await expect
    .poll(() => live.named('room:capabilities').at(-1))
    .toMatchObject({
      rules_version: 2,
      max_length: 20,
      capabilities: { links: { ok: false, code: 'LINKS_NOT_ALLOWED' }, text: { ok: true } },
    })
  expect(await change({ links_allowed: 'disabled' })).toMatchObject({ status: 200, body: { entry: null } })
})

const Told = z.object({ next_send_at: z.string(), capabilities: Capabilities })

test.each(['channel', 'group'] as const)('M65: slow mode takes nothing from what may be sent in a %s', async (type) => {
  const made = await done(owner.call('POST /api/groups', { name: 'Slow', memberAddresses: [member.account] }))
  const place: Place = type === 'channel' ? room : { type, id: z.object({ id: z.string() }).parse(made.group).id }
  await done(rule(owner, { slow_mode_seconds: 60 }, place))
  const live = await listenTo(member, place)
  await done(send(member, place, 'first'))
  const told = await vi.waitFor(() => {
    const { next_send_at, capabilities } = Told.parse(live.named('room:capabilities').at(-1))
    return { next_send_at, capabilities }
  })
  const joined = Told.parse((await listenTo(member, place)).snapshot.me)
  for (const { capabilities, next_send_at } of [told, joined]) {
    expect(Date.parse(next_send_at)).toBeGreaterThan(Date.now())
    for (const [sendable, may] of Object.entries(capabilities))
      expect([sendable, may]).toEqual([sendable, { ok: true, code: null }])
  }
  expect(await check(member, place, 'second')).toMatchObject({ code: 'SLOW_MODE' })
  if (type === 'channel') return
  const { canCreatePoll } = await done(member.call(`GET /api/rooms/group/${place.id}/polls`))
  expect(canCreatePoll).toBe(true)
})

test('booleans of older clients are levels; what is unknown is passed over', async () => {
  expect(await ruled({ photos_allowed: false, gifs_allowed: 'mods_only', colour: 'red' })).toMatchObject({
    photos_allowed: 'disabled',
    gifs_allowed: 'mods_only',
  })
  expect(await ruled({ photos_allowed: true })).toMatchObject({ photos_allowed: 'everyone' })
})

test.each([
  { slow_mode_seconds: 7 },
  { slow_mode_seconds: -5 },
  { links_allowed: 'nobody' },
  { photos_allowed: 1 },
  { read_only: 'yes' },
  { max_message_length: -1 },
  { max_message_length: 1.5 },
  { rules_text: 'x'.repeat(10_001) },
])('%j is refused, and nothing of it stays', async (rules) => {
  expect(await rule(owner, { ...rules, gifs_allowed: 'disabled' })).toMatchObject({
    status: 400,
    code: 'VALIDATION_ERROR',
  })
  expect(await rulesOf()).toMatchObject(defaults)
})

test.each([0, 5, 10, 30, 60, 300, 600])('slow mode may be %d seconds', async (slow_mode_seconds) => {
  await ruled({ slow_mode_seconds: 60 })
  expect(await ruled({ slow_mode_seconds })).toMatchObject({ slow_mode_seconds })
})

test('a missing field is named', async () => {
  expect(await owner.call('POST /api/chat-rules', { rules: {} })).toMatchObject({
    status: 400,
    text: 'chatType required',
  })
  expect(await nobody(server)('GET /api/chat-rules')).toMatchObject({ status: 400, text: 'chatType required' })
  expect(await nobody(server)('GET /api/chat-rules?chatType=channel')).toMatchObject({
    status: 400,
    text: 'chatId required',
  })
  expect(await owner.call('POST /api/chat-rules', { chatType: 'channel', chatId: room.id })).toMatchObject({
    status: 400,
  })
  expect(await nobody(server)('GET /api/chat-rules?chatType=channel&chatId=nowhere')).toMatchObject({
    code: 'ROOM_NOT_FOUND',
  })
  expect(await nobody(server)('POST /api/chat-rules', { chatType: 'alpha', rules: {} })).toMatchObject({ status: 401 })
})

test('rules are set by admins, the owner, and moderators who may manage the room', async () => {
  for (const who of [mod, member])
    expect(await rule(who, { read_only: true })).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  await appoint(owner, room, mod, { canManageMods: true })
  for (const who of [mod, owner, admin]) expect((await rule(who, { read_only: true })).status).toBe(200)
  expect(await rule(owner, { read_only: true }, alpha)).toMatchObject({ status: 403 })
  expect((await rule(admin, { rules_text: 'Welcome' }, alpha)).status).toBe(200)
})

test('the rules of a group are for its members and its admin', async () => {
  const { group } = await done(
    owner.call('POST /api/groups', { name: 'Inner circle', memberAddresses: [member.account] }),
  )
  const place: Place = { type: 'group', id: (group as { id: string }).id }
  const path = `GET /api/chat-rules?chatType=group&chatId=${place.id}`
  expect(await mod.call(path)).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
  expect((await member.call(path)).status).toBe(200)
  expect((await rule(owner, { read_only: true }, place)).status).toBe(200)
  expect(await send(member, place, 'hello')).toMatchObject({ code: 'READ_ONLY' })
  expect(await rule(member, { read_only: false }, place)).toMatchObject({ status: 403 })
  await done(act(owner, place, 'ban', { target: member.account }))
  expect(await member.call(path)).toMatchObject({ status: 403, code: 'BANNED' })
})

describe('from the very next message', () => {
  test('a read-only room is for moderators', async () => {
    await ruled({ read_only: true })
    expect(await send(member, room, 'hello')).toMatchObject({
      status: 403,
      code: 'READ_ONLY',
      text: 'This room is read-only',
      body: { verdict: { rule: { id: 'read_only', kind: 'setting' } } },
    })
    expect((await send(mod, room, 'hello')).status).toBe(200)
  })

  test.each([
    ['photos_allowed', 'image', 'Photos are not allowed'],
    ['pixel_art_allowed', 'pixel_art', 'Pixel art is not allowed'],
    ['gifs_allowed', 'gif', 'GIFs are not allowed'],
    ['polls_allowed', 'poll', 'Polls are not allowed'],
    ['location_sharing_allowed', 'location', 'Location sharing is not allowed'],
    ['voice_allowed', 'voice', 'Voice messages are not allowed'],
  ])('%s says who may post a %s', async (name, type, text) => {
    await ruled({ [name]: 'mods_only' })
    const refused = await send(member, room, 'x', { type })
    expect(refused).toMatchObject({
      status: 403,
      code: 'CONTENT_NOT_ALLOWED',
      text,
      body: { verdict: { rule: { id: name } } },
    })
    expect(await send(mod, room, 'x', { type })).not.toMatchObject({ code: 'CONTENT_NOT_ALLOWED' })
    await ruled({ [name]: 'disabled' })
    expect(await send(owner, room, 'x', { type })).toMatchObject({ code: 'CONTENT_NOT_ALLOWED', text })
  })

  test('links and length', async () => {
    await ruled({ links_allowed: 'mods_only', max_message_length: 30 })
    expect(await check(member, room, 'see example.com')).toMatchObject({
      code: 'LINKS_NOT_ALLOWED',
      text: 'Links are not allowed',
    })
    expect(await check(mod, room, 'see example.com')).toMatchObject({ ok: true })
    expect(await check(member, room, 'x'.repeat(31))).toMatchObject({
      code: 'MESSAGE_TOO_LONG',
      text: 'Message exceeds 30 characters',
    })
    expect(await check(member, room, '😀'.repeat(30))).toMatchObject({ ok: true })
  })

  test('slow mode holds members back, says for how long, and spares moderators', async () => {
    await ruled({ slow_mode_seconds: 300 })
    expect((await send(member, room, 'first')).body).toMatchObject({ next_send_at: expect.any(String) })
    const second = await send(member, room, 'second')
    expect(second).toMatchObject({ status: 429, code: 'SLOW_MODE', body: { verdict: { step: 'slow_mode' } } })
    expect(second.text).toMatch(/^Slow mode: wait \d+ seconds$/)
    expect(second.body.retryAfter).toBeGreaterThan(290)
    for (const text of ['one', 'two']) expect((await send(mod, room, text)).status).toBe(200)
  })
})
