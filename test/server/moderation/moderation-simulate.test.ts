// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import type { CallOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint } from '#test/support/moderation'
import { channelOf, check, moderates, type Person, say } from '#test/support/people'
import { bodyOf, call } from '#test/support/wallet'

const { server, owner, mod, member } = await bootWith(['owner', 'mod', 'member'])
let room: RoomRef & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member)
  await appoint(owner, room, mod)
})

const rule = (who: Person, rules: object, chat: RoomRef = room) =>
  who.rest('POST /api/chat-rules', { chatType: chat.type, chatId: chat.id, rules })
const rulesOf = async (chat = `chatType=channel&chatId=${room.id}`) =>
  (await bodyOf(call(server.url, `GET /api/chat-rules?${chat}`))).rules

describe('a dry run', () => {
  const talk = ['buy cheap watches', 'hello', 'www.example.com', 'CHEAP', 'cheaply made', 'see https://a.example/x']

  const simulate = (proposal: Omit<CallOf<typeof moderation.simulate>, 'room'>) =>
    owner.does('rest', moderation.simulate, { room, ...proposal })

  beforeEach(async () => {
    for (const text of talk) await say(member, room, text)
  })

  test.each([
    ['a word', { word: 'Cheap' }, () => moderates(owner, { room, action: 'word_add', patch: { word: 'Cheap' } })],
    [
      'a pattern',
      { word: 'che+aply?', is_regex: true },
      () => moderates(owner, { room, action: 'word_add', patch: { word: 'che+aply?', is_regex: true } }),
    ],
    ['a rule', { rules: { links_allowed: false } }, () => bodyOf(rule(owner, { links_allowed: false }))],
    ['a length', { rules: { max_message_length: 10 } }, () => bodyOf(rule(owner, { max_message_length: 10 }))],
  ] as const)('of %s finds what really applying it refuses', async (_title, proposal, apply) => {
    const found = await simulate(proposal)
    await apply()
    const verdicts = await Promise.all(talk.map(async (text) => ({ ...(await check(member, room, text)), text })))
    const refused = verdicts.filter(({ ok }) => !ok).map(({ text }) => text)
    expect(found).toMatchObject({ tested: talk.length, hits: refused.length, authors: 1 })
    expect(found.sample.map(({ content }) => content)).toEqual(refused)
    expect(refused.length).toBeGreaterThan(0)
  })

  test('looks at the last so many alone, not at deleted ones, and changes nothing', async () => {
    expect(await simulate({ word: 'cheap', last: 3 })).toMatchObject({ tested: 3, hits: 1 })
    const { id } = await say(member, room, 'cheap again')
    await moderates(mod, { room, action: 'delete', message_id: id })
    expect(await simulate({ word: 'cheap' })).toMatchObject({ tested: talk.length, hits: 2 })
    expect(await check(member, room, 'cheap')).toMatchObject({ ok: true })
    expect(await rulesOf()).toMatchObject({ rules_version: 0 })
  })

  test('is for those who may manage the room, under both its other paths too', async () => {
    const place = { chatType: 'channel', chatId: room.id }
    const byRule = await owner.rest('POST /api/chat-rules/simulate', { ...place, rules: { links_allowed: false } })
    expect(byRule.body).toMatchObject({ tested: talk.length, hits: 2 })
    const byWord = await owner.rest('POST /api/blocked-words/simulate', { ...place, word: 'cheap' })
    expect(byWord.body).toMatchObject({ hits: 2 })
    for (const who of [mod, member])
      expect(await who.rest('POST /api/moderation/simulate', { room, word: 'x' })).toMatchObject({ status: 403 })
    expect(await owner.rest('POST /api/moderation/simulate', { room, word: '(', is_regex: true })).toMatchObject({
      status: 400,
    })
    await moderates(owner, { room, action: 'ban', target: member.account })
    expect(await member.rest('POST /api/moderation/simulate', { room, word: 'x' })).toMatchObject({ code: 'BANNED' })
    const elsewhere = { type: 'channel', id: 'nowhere' }
    expect(await owner.rest('POST /api/moderation/simulate', { room: elsewhere, word: 'x' })).toMatchObject({
      code: 'ROOM_NOT_FOUND',
    })
  })
})
