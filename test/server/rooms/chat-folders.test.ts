// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { ChatFolders, PinnedChats } from '#server/domains/rooms/chat-folders/model'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import {
  chatFolderChanged,
  chatFolders,
  chatsAtMost,
  foldersAtMost,
  lastPlace,
  pinnedChatsChanged,
} from '#shared/api/rooms/chat-folders'
import { rooms } from '#shared/api/rooms/rooms'
import { longestFolderLabel, pinnedAtMost } from '#shared/kit/lengths'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import {
  alpha,
  channelOf,
  type Door,
  groupOf,
  moderates,
  over,
  type Person,
  people,
  person,
  staysSilent,
} from '#test/support/people'
import { call } from '#test/support/wallet'

const nowhere = { type: 'channel', id: '018f0000-0000-7000-8000-000000000000' } as const
let one: Person
let two: Person
let round = 0

const { server } = await bootWith([], { entry: 'in alpha' })
beforeEach(async () => {
  round += 1
  ;[one, two] = await people(server, `folding ${round}`, `folded ${round}`)
})

const listOf = (who: Person, door: Door = 'rest') => who.does(door, chatFolders.list, {})
const folderOf = async (who: Person, label: string, ...chats: RoomRef[]) => {
  const { folder } = await who.does('rest', chatFolders.create, { label })
  return (await who.does('rest', chatFolders.setChats, { id: folder.id, chats })).folder
}
const labelsOf = async (who: Person) => (await listOf(who)).folders.map(({ label }) => label)
const chatsOf = async (who: Person) => (await listOf(who)).folders[0]?.chats

describe('chat folders', () => {
  test.each(over)('over %s: are made, changed, filled, put into an order and removed', async (door) => {
    const [room, group] = [await channelOf(one), await groupOf(one, two)]
    const { folder } = await one.does(door, chatFolders.create, { label: ' Work ', emoji: '💼' })
    expect(folder).toEqual({
      ...{ id: expect.any(String), emoji: '💼', label: 'Work', sort_order: 0, chats: [] },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    })
    const { folder: second } = await one.does(door, chatFolders.create, { label: 'Family' })
    expect(second).toMatchObject({ emoji: null, sort_order: 1 })
    const { id } = folder
    const filled = await one.does(door, chatFolders.setChats, { id, chats: [group, alpha, room, group] })
    expect(filled.folder).toMatchObject({ id, label: 'Work', chats: [group, alpha, room] })
    await one.does(door, chatFolders.setChats, { id: second.id, chats: [room] })
    const later = { label: 'Later', emoji: null, sort_order: 7 }
    const changed = await one.does(door, chatFolders.update, { id, ...later })
    expect(changed.folder).toEqual({ ...filled.folder, ...later, updated_at: expect.any(String) })
    const last = await one.does(door, chatFolders.create, { label: 'Last' })
    expect(last.folder.sort_order).toBe(8)
    expect(await listOf(one, door)).toEqual({
      folders: [{ ...second, chats: [room], updated_at: expect.any(String) }, changed.folder, last.folder],
      pinned: [],
    })
    await one.does(door, chatFolders.setChats, { id, chats: [] })
    expect(await one.does(door, chatFolders.remove, { id: second.id })).toEqual({ success: true })
    expect(await listOf(one, door)).toMatchObject({ folders: [{ id, chats: [] }, { label: 'Last' }] })
  })

  test.each(over)('over %s: chats are pinned as a whole list, in its order', async (door) => {
    const [room, other] = [await channelOf(one), await channelOf(one)]
    expect(await one.does(door, chatFolders.setPinned, { chats: [other, room, other] })).toEqual({
      pinned: [other, room],
    })
    expect(await listOf(one, door)).toEqual({ folders: [], pinned: [other, room] })
    await one.does(door, chatFolders.setPinned, { chats: [alpha] })
    expect((await listOf(one, door)).pinned).toEqual([alpha])
    await one.does(door, chatFolders.setPinned, { chats: [] })
    expect((await listOf(one, door)).pinned).toEqual([])
  })

  test('a folder is made once for each key', async () => {
    const asked = { label: 'Once', idempotency_key: `once-${round}` }
    const made = await one.does('rest', chatFolders.create, asked)
    expect(await one.does('socket', chatFolders.create, asked)).toEqual(made)
    expect(await labelsOf(one)).toEqual(['Once'])
  })

  test.each(over)('over %s: only rooms that the caller is in are taken, whether others exist or not', async (door) => {
    const third = await person(server, `folders: third ${round} ${door}`)
    const [room, open, group] = [await channelOf(one, two), await channelOf(two), await groupOf(two, third)]
    const folder = await folderOf(one, 'Mine', room)
    await one.does('rest', chatFolders.setPinned, { chats: [room] })
    const banned = await channelOf(two, one)
    await moderates(two, { room: banned, action: 'ban', target: one.account })
    for (const other of [open, group, banned, nowhere, dmOf(two.account, third.account)]) {
      const chats = [room, other]
      for (const refused of [
        await one.refused(door, chatFolders.setChats, { id: folder.id, chats }),
        await one.refused(door, chatFolders.setPinned, { chats }),
      ])
        expect(refused).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
    }
    expect(await listOf(one)).toMatchObject({ folders: [{ chats: [room] }], pinned: [room] })
  })

  test('a room that was left is in no answer until it is joined again, and one that is archived in none', async () => {
    const [room, closing] = [await channelOf(two, one), await channelOf(two, one)]
    const { id } = await folderOf(one, 'Both', closing, room)
    await one.does('rest', chatFolders.setPinned, { chats: [room, closing] })
    await one.does('rest', rooms.leave, { room })
    expect(await listOf(one)).toMatchObject({ folders: [{ chats: [closing] }], pinned: [closing] })
    expect((await one.does('rest', chatFolders.update, { id, emoji: '🌊' })).folder.chats).toEqual([closing])
    await two.does('rest', rooms.archive, { room: closing })
    expect(await listOf(one)).toMatchObject({ folders: [{ chats: [] }], pinned: [] })
    // What is written meanwhile does not lose it.
    const other = await channelOf(two, one)
    expect((await one.does('rest', chatFolders.setChats, { id, chats: [other] })).folder.chats).toEqual([other])
    expect((await one.does('rest', chatFolders.setPinned, { chats: [other] })).pinned).toEqual([other])
    await one.does('rest', rooms.join, { room })
    expect(await listOf(one)).toMatchObject({ folders: [{ chats: [other, room] }], pinned: [other, room] })
    expect((await one.refused('rest', chatFolders.setPinned, { chats: [closing] })).code).toBe('ROOM_NOT_FOUND')
  })

  test.each(over)('over %s: a folder is of its account alone', async (door) => {
    const room = await channelOf(one, two)
    const { id } = await folderOf(one, 'Mine', room)
    await one.does('rest', chatFolders.setPinned, { chats: [room] })
    for (const named of [id, 'nothing'])
      for (const refused of [
        await two.refused(door, chatFolders.update, { id: named, label: 'Taken' }),
        await two.refused(door, chatFolders.setChats, { id: named, chats: [] }),
        await two.refused(door, chatFolders.remove, { id: named }),
      ])
        expect(refused).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    await two.does(door, chatFolders.setPinned, { chats: [] })
    expect(await listOf(two, door)).toEqual({ folders: [], pinned: [] })
    expect(await listOf(one)).toMatchObject({ folders: [{ id, label: 'Mine', chats: [room] }], pinned: [room] })
    for (const route of ['GET /api/chat-folders', `DELETE /api/chat-folders/${id}`, 'PUT /api/pinned-chats'])
      expect((await call(server.url, route, route.startsWith('GET') ? null : { chats: [] })).status).toBe(401)
  })

  test('an account has so many folders, also where they are made at once', async () => {
    const asked = Array.from({ length: foldersAtMost + 5 }, (_, at) =>
      one.tries('rest', chatFolders.create, { label: `Folder ${at}` }),
    )
    const refused = (await Promise.all(asked)).flatMap((answer) => (answer.ok ? [] : [answer.error]))
    expect(refused).toEqual(Array(5).fill(expect.objectContaining({ status: 409, code: 'CONFLICT' })))
    const { folders } = await listOf(one)
    expect(folders).toHaveLength(foldersAtMost)
    await one.does('rest', chatFolders.remove, { id: folders[0]?.id ?? '' })
    await one.does('rest', chatFolders.create, { label: 'After all' })
  })

  test('a folder and the pins hold so many chats', async () => {
    const room = await channelOf(one)
    const { id } = await folderOf(one, 'Full')
    const many = (count: number) => Array<RoomRef>(count).fill(room)
    await one.does('rest', chatFolders.setChats, { id, chats: many(chatsAtMost) })
    await one.does('rest', chatFolders.setPinned, { chats: many(pinnedAtMost) })
    for (const refused of [
      await one.refused('rest', chatFolders.setChats, { id, chats: many(chatsAtMost + 1) }),
      await one.refused('rest', chatFolders.setPinned, { chats: many(pinnedAtMost + 1) }),
    ])
      expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect(await chatsOf(one)).toEqual([room])
  })

  test.each([
    ['no label', { label: '' }],
    ['33 characters', { label: 'x'.repeat(longestFolderLabel + 1) }],
    ['33 emoji', { label: '👨‍👩‍👧'.repeat(longestFolderLabel + 1) }],
    ['marks without end', { label: `z${'\u0301'.repeat(1_000)}` }],
    ['a second line', { label: 'one\ntwo' }],
    ['signs of direction', { label: 'a\u202eb' }],
    ['nothing to be seen', { label: '\u200b' }],
    ['words for an emoji', { emoji: 'ok' }],
    ['two emoji', { emoji: '🎻🎻' }],
    ['a place before the first', { sort_order: -1 }],
    ['half a place', { sort_order: 1.5 }],
    ['a place too far', { sort_order: lastPlace + 1 }],
  ])('%s are refused', async (_what, given) => {
    const refused = await one.refused('rest', chatFolders.create, { label: 'Fine', ...given })
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect(await labelsOf(one)).toEqual([])
  })

  test('a label is measured as people see it', async () => {
    const label = '👨‍👩‍👧'.repeat(longestFolderLabel)
    expect((await one.does('rest', chatFolders.create, { label })).folder).toMatchObject({ label })
  })

  test.each([
    ['null', null],
    ['a text with nothing in it', ''],
  ] as const)('%s is as good as leaving a field out, and takes the emoji of a folder away', async (_what, empty) => {
    const { folder } = await one.does('rest', chatFolders.create, { label: 'Form', emoji: empty, sort_order: empty })
    expect(folder).toMatchObject({ emoji: null, sort_order: 0 })
    const { id } = folder
    const kept = await one.does('rest', chatFolders.update, { id, emoji: '🎻', label: empty, sort_order: empty })
    expect(kept.folder).toMatchObject({ label: 'Form', emoji: '🎻', sort_order: 0 })
    expect((await one.does('rest', chatFolders.update, { id })).folder).toMatchObject({ label: 'Form', emoji: '🎻' })
    const cleared = await one.does('rest', chatFolders.update, { id, emoji: empty })
    expect(cleared.folder).toMatchObject({ label: 'Form', emoji: null })
  })

  test('every device of the account is told, and nobody else', heavy, async () => {
    const room = await channelOf(one, two)
    const mine = [await one.socket('/notifications'), await one.socket('/notifications')]
    const theirs = await two.socket('/notifications')
    const { folder } = await one.does('rest', chatFolders.create, { label: 'Told' })
    const folder_id = folder.id
    const filled = await one.does('rest', chatFolders.setChats, { id: folder_id, chats: [room] })
    const renamed = await one.does('rest', chatFolders.update, { id: folder_id, label: 'Told again' })
    await one.does('rest', chatFolders.setPinned, { chats: [room] })
    await one.does('rest', chatFolders.remove, { id: folder_id })
    for (const line of mine) {
      await line.hears(chatFolderChanged, (told) => told.folder === null)
      expect(line.all(chatFolderChanged)).toEqual([
        { folder_id, folder },
        { folder_id, folder: filled.folder },
        { folder_id, folder: renamed.folder },
        { folder_id, folder: null },
      ])
      expect(line.all(pinnedChatsChanged)).toEqual([{ pinned: [room] }])
    }
    await staysSilent(theirs, chatFolderChanged)
    expect(theirs.all(pinnedChatsChanged)).toEqual([])
  })

  test('rooms of a kind that a newer version knows are left out', async () => {
    const room = await channelOf(one)
    const { id } = await folderOf(one, 'Mixed', room)
    const newer = 'newer:a'
    const [member, known] = await Promise.all([
      Members.collection.findOne({ room: roomKey(room), user_address: one.account }),
      Rooms.collection.findOne({ _id: roomKey(room) as never }),
    ])
    await Members.collection.insertOne({ ...member, _id: `${newer}|member:${one.account}` as never, room: newer })
    await Rooms.collection.insertOne({ ...known, _id: newer as never, type: 'newer', slug: newer, unique_name: newer })
    await ChatFolders.updateOne({ _id: id }, { $set: { chats: [newer, roomKey(room)] } })
    await PinnedChats.updateOne({ _id: one.account }, { $set: { chats: [newer] } }, { upsert: true })
    expect(await listOf(one)).toMatchObject({ folders: [{ chats: [room] }], pinned: [] })
  })
})
