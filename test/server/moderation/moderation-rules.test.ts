// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { capabilitiesChanged } from '#shared/api/rooms/rooms'
import type { CallOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint } from '#test/support/moderation'
import {
  alpha,
  channelOf,
  check,
  groupOf,
  listenTo,
  moderates,
  outcomeOf,
  over,
  type Person,
  say,
} from '#test/support/people'
import { solo } from '#test/support/solo'
import { bodyOf, call } from '#test/support/wallet'

const { server, owner, mod, member, admin } = await bootWith(['owner', 'mod', 'member', 'admin'], {
  entry: 'in alpha',
  admins: ['admin'],
})
let room: RoomRef & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member)
  await appoint(owner, room, mod)
})

const rule = (who: Person, rules: object, chat: RoomRef = room) =>
  who.rest('POST /api/chat-rules', { chatType: chat.type, chatId: chat.id, rules })
const ruled = async (rules: object) => (await bodyOf(rule(owner, rules))).rules
const rulesOf = async (chat = `chatType=channel&chatId=${room.id}`) =>
  moderation.rules.output.parse(await bodyOf(call(server.url, `GET /api/chat-rules?${chat}`))).rules

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

solo('M32: a room without rules has the defaults, and the id that they keep once they are set', async () => {
  const rules = await rulesOf()
  expect(rules).toMatchObject({
    ...defaults,
    chat_type: 'channel',
    chat_id: room.id,
    updated_by: null,
    updated_at: null,
  })
  await moderates(owner, { room, action: 'rules', patch: { rules: { rules_text: 'Be kind.' } } })
  expect(await rulesOf()).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
    rules_text: 'Be kind.',
  })
  expect(await rulesOf()).toMatchObject({ id: rules.id })
  expect(await rulesOf('chatType=alpha&chatId=null')).toMatchObject({ chat_type: 'alpha', chat_id: null })
})

test.each(over)('rules are changed over %s a few at a time, and everybody here learns of it', async (door) => {
  const live = await listenTo(member, room)
  const change = (rules: NonNullable<NonNullable<CallOf<typeof moderation.act>['patch']>['rules']>) =>
    owner.does(door, moderation.act, { room, action: 'rules', patch: { rules } })
  const { record } = await change({ max_message_length: 20, rules_text: 'Be kind.' })
  expect(record).toMatchObject({
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
  await expect.poll(() => live.log(room).filter(({ type }) => type === 'rules.updated')).toHaveLength(2)
  await expect
    .poll(() => live.log(room).at(-1)?.data)
    .toMatchObject({ version: 2, diff: { links_allowed: 'disabled' } })
  await expect
    .poll(() => live.all(capabilitiesChanged).at(-1))
    .toMatchObject({
      rules_version: 2,
      max_length: 20,
      capabilities: { links: { ok: false, code: 'LINKS_NOT_ALLOWED' }, text: { ok: true } },
    })
  expect(await change({ links_allowed: 'disabled' })).toMatchObject({ entry: null })
})

solo.each(['channel', 'group'] as const)('M65: slow mode takes nothing from what may be sent in a %s', async (type) => {
  const place = type === 'channel' ? room : await groupOf(owner, member)
  await bodyOf(rule(owner, { slow_mode_seconds: 60, files_allowed: 'everyone' }, place))
  const live = await listenTo(member, place)
  await say(member, place, 'first')
  const told = await live.hears(capabilitiesChanged, ({ next_send_at }) => next_send_at !== null)
  const { me } = await member.does('socket', messages.join, { room: place })
  for (const { capabilities, next_send_at } of [told, me]) {
    expect(Date.parse(next_send_at ?? '')).toBeGreaterThan(Date.now())
    for (const [sendable, may] of Object.entries(capabilities))
      expect([sendable, may]).toEqual([sendable, { ok: true, code: null }])
  }
  expect(await check(member, place, 'second')).toMatchObject({ code: 'SLOW_MODE' })
  if (type === 'channel') return
  const { canCreatePoll } = await member.does('rest', polls.list, { room: place })
  expect(canCreatePoll).toBe(true)
})

solo('booleans of older clients are levels; what is unknown is passed over', async () => {
  expect(await ruled({ photos_allowed: false, gifs_allowed: 'mods_only', colour: 'red' })).toMatchObject({
    photos_allowed: 'disabled',
    gifs_allowed: 'mods_only',
  })
  expect(await ruled({ photos_allowed: true })).toMatchObject({ photos_allowed: 'everyone' })
})

solo.each([
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

solo.each([0, 5, 10, 30, 60, 300, 600])('slow mode may be %d seconds', async (slow_mode_seconds) => {
  await ruled({ slow_mode_seconds: 60 })
  expect(await ruled({ slow_mode_seconds })).toMatchObject({ slow_mode_seconds })
})

solo('a missing field is named', async () => {
  expect(await owner.rest('POST /api/chat-rules', { rules: {} })).toMatchObject({
    status: 400,
    body: { error: 'chatType required' },
  })
  expect(await call(server.url, 'GET /api/chat-rules')).toMatchObject({
    status: 400,
    body: { error: 'chatType required' },
  })
  expect(await call(server.url, 'GET /api/chat-rules?chatType=channel')).toMatchObject({
    status: 400,
    body: { error: 'chatId required' },
  })
  expect(await owner.rest('POST /api/chat-rules', { chatType: 'channel', chatId: room.id })).toMatchObject({
    status: 400,
  })
  expect(await call(server.url, 'GET /api/chat-rules?chatType=channel&chatId=nowhere')).toMatchObject({
    code: 'ROOM_NOT_FOUND',
  })
  expect(await call(server.url, 'POST /api/chat-rules', { chatType: 'alpha', rules: {} })).toMatchObject({
    status: 401,
  })
})

solo('rules are set by admins, the owner, and moderators who may manage the room', async () => {
  for (const who of [mod, member])
    expect(await rule(who, { read_only: true })).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  await appoint(owner, room, mod, { canManageMods: true })
  for (const who of [mod, owner, admin]) expect((await rule(who, { read_only: true })).status).toBe(200)
  expect(await rule(owner, { read_only: true }, alpha)).toMatchObject({ status: 403 })
  expect((await rule(admin, { rules_text: 'Welcome' }, alpha)).status).toBe(200)
})

solo('the rules of a group are for its members and its admin', async () => {
  const place = await groupOf(owner, member)
  const path = `GET /api/chat-rules?chatType=group&chatId=${place.id}`
  expect(await mod.rest(path)).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
  expect((await member.rest(path)).status).toBe(200)
  expect((await rule(owner, { read_only: true }, place)).status).toBe(200)
  expect(await member.refused('socket', messages.send, { room: place, text: 'hello' })).toMatchObject({
    code: 'READ_ONLY',
  })
  expect(await rule(member, { read_only: false }, place)).toMatchObject({ status: 403 })
  await moderates(owner, { room: place, action: 'ban', target: member.account })
  expect(await member.rest(path)).toMatchObject({ status: 403, code: 'BANNED' })
})

describe('from the very next message', () => {
  test('a read-only room is for moderators', async () => {
    await ruled({ read_only: true })
    expect(await member.refused('socket', messages.send, { room, text: 'hello' })).toMatchObject({
      status: 403,
      code: 'READ_ONLY',
      message: 'This room is read-only',
      verdict: { rule: { id: 'read_only', kind: 'setting' } },
    })
    await say(mod, room, 'hello')
  })

  solo.each([
    ['photos_allowed', 'image', 'Photos are not allowed'],
    ['pixel_art_allowed', 'pixel_art', 'Pixel art is not allowed'],
    ['gifs_allowed', 'gif', 'GIFs are not allowed'],
    ['polls_allowed', 'poll', 'Polls are not allowed'],
    ['location_sharing_allowed', 'location', 'Location sharing is not allowed'],
    ['voice_allowed', 'voice', 'Voice messages are not allowed'],
  ] as const)('%s says who may post a %s', async (name, type, text) => {
    await ruled({ [name]: 'mods_only' })
    const refused = await member.refused('socket', messages.send, { room, text: 'x', type })
    expect(refused).toMatchObject({
      status: 403,
      code: 'CONTENT_NOT_ALLOWED',
      message: text,
      verdict: { rule: { id: name } },
    })
    expect(outcomeOf(await mod.tries('socket', messages.send, { room, text: 'x', type }))).not.toContain(
      'CONTENT_NOT_ALLOWED',
    )
    await ruled({ [name]: 'disabled' })
    expect(await owner.refused('socket', messages.send, { room, text: 'x', type })).toMatchObject({
      code: 'CONTENT_NOT_ALLOWED',
      message: text,
    })
  })

  solo('links and length', async () => {
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
    expect(await member.does('socket', messages.send, { room, text: 'first' })).toMatchObject({
      next_send_at: expect.any(String),
    })
    const second = await member.refused('socket', messages.send, { room, text: 'second' })
    expect(second).toMatchObject({ status: 429, code: 'SLOW_MODE', verdict: { step: 'slow_mode' } })
    expect(second.message).toMatch(/^Slow mode: wait \d+ seconds$/)
    expect(second.retryAfter).toBeGreaterThan(290)
    for (const text of ['one', 'two']) await say(mod, room, text)
  })
})
