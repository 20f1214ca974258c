// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import type { BlockedWord } from '#shared/api/moderation/moderation-records'
import { messages } from '#shared/api/rooms/messages'
import type { CallOf } from '#shared/kit/contract'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, officialChannel } from '#test/support/moderation'
import { alpha, channelOf, check, listenTo, over, type Person } from '#test/support/people'
import { bodyOf, call } from '#test/support/wallet'

const { server, owner, mod, member, admin, globalMod } = await bootWith(
  ['owner', 'mod', 'member', 'admin', 'globalMod'],
  { entry: 'in alpha', admins: ['admin'] },
)
await appoint(admin, null, globalMod)
let room: RoomRef & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member)
  await appoint(owner, room, mod)
})

const block = (who: Person, word: string, more: object = {}) =>
  who.rest('POST /api/blocked-words', { word, scope: 'room', chatType: room.type, chatId: room.id, ...more })
const blocked = async (...word: Parameters<typeof block>) => (await bodyOf(block(...word))).word as BlockedWord
const wordsFor = async (who: Person, query: CallOf<typeof moderation.words>) =>
  (await who.does('rest', moderation.words, query)).words
const here = () => ({ scope: 'room', chatType: 'channel', chatId: room.id }) as const

describe('the list of a room', () => {
  test.each(over)('a word is added over %s, kept in lower case, and refuses what holds it', async (door) => {
    const { record } = await owner.does(door, moderation.act, { room, action: 'word_add', patch: { word: 'ZorK' } })
    expect(record).toMatchObject({
      word: 'zork',
      scope: 'room',
      chat_type: 'channel',
      chat_id: room.id,
      action: 'block',
      is_regex: false,
      added_by: owner.account,
      is_active: true,
    })
    const refused = await member.refused('socket', messages.send, { room, text: 'What a ZORK!' })
    expect(refused).toMatchObject({
      status: 403,
      code: 'BLOCKED_WORD',
      verdict: { step: 'blocked_words', rule: { kind: 'word', scope: 'room' } },
    })
    expect(JSON.stringify(refused).toLowerCase()).not.toContain('zork')
    expect(await check(member, room, 'zorkish')).toMatchObject({ ok: true })
  })

  test.each(over)(
    'N21: a word that counts as it is written refuses nothing that differs by accents, over %s',
    async (door) => {
      const patch = { word: 'Schwül', as_written: true }
      const { record } = await owner.does(door, moderation.act, { room, action: 'word_add', patch })
      expect(record).toMatchObject({ word: 'schwül', as_written: true })
      expect(await wordsFor(owner, here())).toMatchObject([{ word: 'schwül', as_written: true }])
      expect(await check(member, room, 'es ist SCHWÜL')).toMatchObject({ code: 'BLOCKED_WORD' })
      expect(await check(member, room, 'er ist schwul')).toMatchObject({ ok: true })
    },
  )

  test('N21: the older path and a dry run know words that count as they are written', async () => {
    expect(await blocked(owner, 'lồn', { asWritten: true })).toMatchObject({ as_written: true })
    expect(await check(member, room, 'uống lon bia')).toMatchObject({ ok: true })
    await member.does('socket', messages.send, { room, text: 'uống lon bia' })
    for (const [as_written, hits] of [
      [false, 1],
      [true, 0],
    ] as const)
      expect(await owner.does('rest', moderation.simulate, { room, word: 'lòn', as_written })).toMatchObject({ hits })
  })

  test.each(over)('N30: a word of which nothing is left is refused over %s; a stretched one is found', async (door) => {
    const add = (word: string) => ({ room, action: 'word_add' as const, patch: { word } })
    expect(await owner.refused(door, moderation.act, add('ـــ'))).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
    })
    await owner.does(door, moderation.act, add('كذب'))
    expect(await check(member, room, 'هذا كـــذب')).toMatchObject({ code: 'BLOCKED_WORD' })
  })

  test('a word is one among the active, whatever its case; taken out, it may come back', async () => {
    const { id } = await blocked(owner, 'Zork')
    expect(await block(owner, 'zORK')).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(await block(owner, 'zork', { isRegex: true })).toMatchObject({ status: 409 })
    expect(await owner.rest(`DELETE /api/blocked-words?id=${id}`)).toMatchObject({ body: { success: true } })
    expect(await check(member, room, 'zork')).toMatchObject({ ok: true })
    expect(await owner.rest('DELETE /api/blocked-words', { id })).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    const again = await blocked(owner, 'zork')
    expect(again.id).not.toBe(id)
    expect(await check(member, room, 'zork')).toMatchObject({ code: 'BLOCKED_WORD' })
    expect(await wordsFor(owner, here())).toMatchObject([{ id: again.id }])
  })

  test('fifty of one word at once are one word', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => block(owner, 'zork')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    expect(await wordsFor(owner, here())).toHaveLength(1)
  })

  test('is edited by those who may manage the room, and seen by them alone', async () => {
    const { id } = await blocked(owner, 'zork')
    for (const who of [mod, member]) {
      expect(await block(who, 'other')).toMatchObject({ status: 403, code: 'FORBIDDEN' })
      expect(await who.rest('DELETE /api/blocked-words', { id })).toMatchObject({ status: 403 })
      expect(await wordsFor(who, here())).toEqual([])
    }
    expect(await bodyOf(call(server.url, `GET /api/blocked-words?${new URLSearchParams(here())}`))).toEqual({
      words: [],
    })
    await appoint(owner, room, mod, { canManageMods: true })
    expect((await block(mod, 'other')).status).toBe(200)
    expect((await wordsFor(mod, here())).map(({ word }) => word)).toEqual(['other', 'zork'])
    expect((await wordsFor(admin, here())).length).toBe(2)
  })

  test('holds only there', async () => {
    const elsewhere = await channelOf(owner, member)
    await blocked(owner, 'zork')
    expect(await check(member, elsewhere, 'zork')).toMatchObject({ ok: true })
  })

  test('never tells a list that is not there', async () => {
    for (const query of [
      { scope: 'room', chatType: 'channel', chatId: 'nowhere' },
      { scope: 'all', chatType: 'group', chatId: 'nowhere' },
    ] as const)
      expect(await wordsFor(member, query)).toEqual([])
  })

  test('M32: needs a chat type for every scope but the global one', async () => {
    for (const scope of ['room', 'all'])
      for (const who of [owner, member, admin])
        expect(await who.rest(`GET /api/blocked-words?scope=${scope}`)).toMatchObject({
          status: 400,
          body: { error: 'chatType required' },
        })
    await admin.does('rest', moderation.words, { scope: 'global' })
  })

  test('M32: needs the id of a room where its words alone are asked for', async () => {
    for (const chatType of ['channel', 'group', 'location', 'token'])
      for (const chatId of ['', '&chatId='])
        expect(await owner.rest(`GET /api/blocked-words?scope=room&chatType=${chatType}${chatId}`)).toMatchObject({
          status: 400,
          body: { error: 'chatId required' },
        })
    for (const query of ['scope=room&chatType=alpha', 'scope=all&chatType=channel'])
      expect((await owner.rest(`GET /api/blocked-words?${query}`)).status).toBe(200)
  })

  test('tells the room nothing but that its log moved on', async () => {
    const line = await listenTo(member, room)
    await blocked(owner, 'zork')
    await expect.poll(() => line.log(room).at(-1)?.type).toBe('words.updated')
    expect(line.log(room).at(-1)).toMatchObject({ actor: { id: '' }, data: {} })
  })
})

describe('the list of everywhere', () => {
  const global = (who: Person, word: string) => who.rest('POST /api/blocked-words', { word })

  test('belongs to admins and global moderators', async () => {
    expect(await global(owner, 'glork')).toMatchObject({ status: 403 })
    const { word } = await bodyOf(global(globalMod, 'glork'))
    expect(word).toMatchObject({ scope: 'global', chat_type: null, chat_id: null })
    expect((await wordsFor(globalMod, { scope: 'global' })).map((one) => one.word)).toContain('glork')
    expect(await wordsFor(owner, { scope: 'global' })).toEqual([])
    const { id } = word as BlockedWord
    expect(await owner.rest('DELETE /api/blocked-words', { id })).toMatchObject({ status: 403 })
    expect((await admin.rest('DELETE /api/blocked-words', { id })).status).toBe(200)
  })

  test('holds in every shared room, before the room’s own words, and never in a direct message', async () => {
    const { word } = await bodyOf(global(admin, 'glork'))
    await blocked(owner, 'zork')
    const official = await officialChannel(member)
    for (const place of [room, official, alpha])
      expect(await check(member, place, 'a glork')).toMatchObject({
        code: 'BLOCKED_WORD',
        rule: { id: (word as BlockedWord).id, scope: 'global' },
      })
    expect(await check(member, room, 'zork and glork')).toMatchObject({ rule: { scope: 'global' } })
    const dm = dmOf(owner.account, member.account)
    const sealed = Buffer.from('glork glork glork glork glork').toString('base64')
    await member.does('socket', messages.send, { room: dm, text: sealed })
    const both = await wordsFor(admin, { ...here(), scope: 'all' })
    expect(both.map((one) => one.word)).toEqual(['glork', 'zork'])
    await admin.rest('DELETE /api/blocked-words', { id: (word as BlockedWord).id })
  })
})

describe('what may not be written', () => {
  test.each([
    ['no word', { word: undefined }, 'word missing'],
    ['an empty word', { word: '  ' }, 'word missing'],
    ['a word of 201 characters', { word: 'x'.repeat(201) }, null],
    ['an unknown scope', { scope: 'world' }, null],
    ['an unknown action', { action: 'shout' }, null],
    ['a room without its id', { chatId: undefined }, null],
  ])('%s', async (_title, change, text) => {
    const refused = await block(owner, 'zork', change)
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', ...(text ? { body: { error: text } } : {}) })
  })

  test('without a session: 401; without an id: 400; where there is no room: 404', async () => {
    expect(await call(server.url, 'POST /api/blocked-words', { word: 'zork' })).toMatchObject({
      status: 401,
      body: { error: 'Unauthorized' },
    })
    expect(await owner.rest('DELETE /api/blocked-words', {})).toMatchObject({ status: 400 })
    expect(await block(owner, 'zork', { chatId: 'nowhere' })).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
  })
})
