// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { updateSearchWords } from '#server/domains/agents/agents/owned'
import { Rooms, SearchBlocks, SearchMarks } from '#server/domains/rooms/room-state/model'
import { markOf } from '#server/domains/rooms/room-state/search-index'
import { updateSearchTerms } from '#server/domains/rooms/rooms/rooms'
import { agentDiscovery } from '#shared/api/agents/agent-records'
import { agents } from '#shared/api/agents/agents'
import type { Message } from '#shared/api/rooms/message'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, moderates, over, type Person, people } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person

beforeAll(async () => {
  server = await boot()
  ;[owner, member] = await people(server, 'owner', 'member')
})
afterAll(() => server.close())

const said = async (who: Person, room: RoomRef, texts: readonly string[]) => {
  const sent: Message[] = []
  for (let at = 0; at < texts.length; at += 20) {
    const some = texts.slice(at, at + 20).map((text) => who.does('socket', messages.send, { room, text }))
    sent.push(...(await Promise.all(some)).map(({ message }) => message))
  }
  return sent
}
const numbered = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} number ${at}`)
const filed = (room: RoomRef, blocks: number) =>
  expect.poll(async () => (await SearchMarks.findOne({ _id: markOf(roomKey(room)) }).lean())?.blocks).toBe(blocks)
const stored = async (room: RoomRef) => JSON.stringify(await SearchBlocks.find({ room: roomKey(room) }).lean())
const contents = (found: { messages: { content: string }[] }) => found.messages.map(({ content }) => content)

describe('M11: a search by an index', () => {
  test('finds the oldest and the newest in one call, over both doors, once blocks are filed', async () => {
    const room = await channelOf(owner, member)
    await said(owner, room, ['the zeppelin lands', ...numbered(160, 'filler'), 'a zeppelin starts'])
    await filed(room, 2)
    for (const door of over) {
      const found = await member.does(door, messages.search, { room, query: 'zeppel' })
      expect(contents(found)).toEqual(['a zeppelin starts', 'the zeppelin lands'])
      expect(found).toMatchObject({ has_more: false, next_before_seq: null, searched: 162 })
      const all: string[] = []
      let next: number | null | undefined
      do {
        const query = { room, query: 'number filler', limit: 50, before_seq: next ?? undefined }
        const found = await member.does(door, messages.search, query)
        all.push(...contents(found))
        next = found.next_before_seq
      } while (next !== null)
      expect(all.sort()).toEqual(numbered(160, 'filler').sort())
    }
  })

  test('an edit is found by its new words and no more by its old ones, which leave the store', async () => {
    const room = await channelOf(owner, member)
    const [first, second] = await said(member, room, ['quixotry here', 'wyvernly there', ...numbered(70, 'filler')])
    await filed(room, 1)
    expect(await stored(room)).toContain('quixot')
    const find = async (query: string) => contents(await owner.does('rest', messages.search, { room, query }))
    await member.does('socket', messages.edit, { room, id: first?.id ?? '', text: 'yarborough here' })
    expect(await stored(room)).not.toContain('quixot')
    expect(await find('quixotry')).toEqual([])
    expect(await find('yarborough')).toEqual(['yarborough here'])
    await expect.poll(() => stored(room)).toContain('yarbor')
    await member.does('rest', messages.remove, { room, id: second?.id ?? '' })
    expect(await stored(room)).not.toContain('wyvern')
    expect(await find('wyvernly')).toEqual([])
    await find('yarborough')
    await expect.poll(() => stored(room)).toContain('yarbor')
    await moderates(owner, { room, action: 'purge', target: member.account })
    expect(await stored(room)).not.toContain('yarbor')
    expect(await find('yarborough')).toEqual([])
  })

  test('channels are found by the starts of the words of name and description', async () => {
    const { channel } = await owner.does('rest', rooms.createChannel, {
      name: `Ornithology ${process.pid}`,
      description: 'Watching kingfishers at dawn',
    })
    const list = async (search: string) =>
      (await member.does('rest', rooms.list, { search })).channels.map(({ id }) => id)
    for (const search of ['ornith', 'KINGFISHERS', 'dawn ornithology', `${process.pid}`])
      expect(await list(search)).toContain(channel.id)
    for (const search of ['nithology', 'kingfishers dusk', '.*', '!!']) expect(await list(search)).toEqual([])
    await owner.does('rest', rooms.update, { room: { type: 'channel', id: channel.id }, description: 'Only herons' })
    expect(await list('kingfishers')).toEqual([])
    expect(await list('heron')).toEqual([channel.id])
  })

  test('channels that an older version stored are filed at the start', async () => {
    const { channel } = await owner.does('rest', rooms.createChannel, { name: `Antiquity ${process.pid}` })
    await Rooms.updateOne({ _id: `channel:${channel.id}` }, { $unset: { terms: '', skeleton_version: '' } })
    const found = async () => (await member.does('rest', rooms.list, { search: 'antiquity' })).channels
    expect(await found()).toEqual([])
    await updateSearchTerms()
    expect(await found()).toHaveLength(1)
  })
})

test.each(over)('N22: one sign or letter of any script is searched over %s, as it is written', async (door) => {
  const room = await channelOf(owner, member)
  const texts = ['all 😀 here', 'with ❤️', 'ß alone', 'ж alone', '한 alone', 'x alone', 'Σ alone', '5㎏ rice', '№5 bus']
  await said(owner, room, texts)
  for (const [query, text] of [
    ['😀', 'all 😀 here'],
    ['❤', 'with ❤️'],
    ['ß', 'ß alone'],
    ['Ж', 'ж alone'],
    ['한', '한 alone'],
    ['X', 'x alone'],
    ['σ', 'Σ alone'],
    ['5㎏', '5㎏ rice'],
    ['№5', '№5 bus'],
    ['№', '№5 bus'],
  ] as const)
    expect([query, contents(await member.does(door, messages.search, { room, query }))]).toEqual([query, [text]])
  expect(await member.refused(door, messages.search, { room, query: ' ' })).toMatchObject({ status: 400 })
})

describe('N21: what older versions filed without marks', () => {
  test('messages are found by what they say, before their blocks are filed again and after', async () => {
    const room = await channelOf(owner, member)
    await said(owner, room, ['мой дом', ...numbered(63, 'filler')])
    await filed(room, 1)
    const key = roomKey(room)
    await SearchBlocks.updateOne({ _id: `${key}|0` }, { $set: { terms: ['moи', 'дом', 'fil', 'filler'] } })
    await SearchMarks.deleteOne({ _id: markOf(key) })
    await SearchMarks.create({ _id: key, blocks: 1 })
    const find = async () => contents(await member.does('rest', messages.search, { room, query: 'мой' }))
    expect(await find()).toEqual(['мой дом'])
    await filed(room, 1)
    expect(await stored(room)).toContain('moй')
    expect(await find()).toEqual(['мой дом'])
  })

  test('what was filed with two sigmas is found with either, before it is filed again and after', async () => {
    const room = await channelOf(owner, member)
    await said(owner, room, ['οι θάλασσες της Ελλάδας', ...numbered(63, 'filler')])
    await filed(room, 1)
    const key = roomKey(room)
    await SearchBlocks.updateOne(
      { _id: `${key}|0` },
      { $set: { terms: ['eλλ', 'eλλaδa', 'eλλaδas', 'θaλ', 'θaλaoo'] } },
    )
    await SearchMarks.deleteOne({ _id: markOf(key) })
    await SearchMarks.create({ _id: `${key}|2`, blocks: 1 })
    const find = async (query: string) => contents(await member.does('rest', messages.search, { room, query }))
    for (const query of ['ΘΑΛΑΣΣΕΣ', 'θαλασς', 'ΕΛΛΑΔΑΣ']) expect(await find(query)).toHaveLength(1)
    await filed(room, 1)
    for (const query of ['ΘΑΛΑΣΣΕΣ', 'θαλασς', 'ΕΛΛΑΔΑΣ']) expect(await find(query)).toHaveLength(1)
  })

  test('rooms and their unique names are filed anew', async () => {
    const name = `Мой ${process.pid}`
    const { channel } = await owner.does('rest', rooms.createChannel, { name })
    const _id = `channel:${channel.id}`
    const before = { terms: ['moи'], unique_name: `moи ${process.pid}` }
    await Rooms.updateOne({ _id }, { $set: before, $unset: { skeleton_version: '' } })
    await updateSearchTerms()
    const found = await member.does('rest', rooms.list, { search: 'мой' })
    expect(found.channels.map(({ id }) => id)).toContain(channel.id)
    await expect(member.does('rest', rooms.createChannel, { name })).rejects.toThrow()
    await member.does('rest', rooms.createChannel, { name: `Мои ${process.pid}` })
  })

  test('agents are found by their words', async () => {
    const { agent } = await owner.does('rest', agents.create, { name: 'Стройка', visibility: 'public' })
    await Agents.updateOne({ _id: agent.id }, { $set: { words: ['строика'] }, $unset: { words_version: '' } })
    await updateSearchWords()
    const found = await member.does('rest', agentDiscovery.discover, { search: 'стройка', filter: 'all' })
    expect(found.agents.map(({ id }) => id)).toContain(agent.id)
  })
})

describe('O36: a search', () => {
  test('finds a word within a longer one of Hangul, filed or not', async () => {
    const room = await channelOf(owner, member)
    // A busy machine reads as many messages a call as a block has.
    await said(owner, room, [...numbered(60, 'filler'), '한국어메시지입니다', '안녕하세요', ...numbered(10, 'filler')])
    await filed(room, 1)
    await said(owner, room, ['새메시지'])
    const find = async (query: string) => contents(await member.does('rest', messages.search, { room, query }))
    expect(await find('메시지')).toEqual(['새메시지', '한국어메시지입니다'])
    expect(await find('메시')).toEqual(['새메시지', '한국어메시지입니다'])
    expect(await find('입니다')).toEqual(['한국어메시지입니다'])
    expect(await find('한국어 메시지')).toEqual(['한국어메시지입니다'])
    expect(await find('지메')).toEqual([])
    expect(await find('시국')).toEqual([])
  })

  test.each(['!!!', '… —', '()'])('for signs alone says what can be searched for: %s', async (query) => {
    const room = await channelOf(owner)
    for (const door of over)
      expect(await owner.refused(door, messages.search, { room, query })).toMatchObject({
        status: 400,
        message: expect.stringContaining('a word'),
      })
  })
})
