// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test } from 'vitest'
import { Stars } from '#server/domains/rooms/stars/model'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { starChanged, stars, starsAtMost } from '#shared/api/rooms/stars'
import type { RoomRef } from '#shared/kit/primitives'
import { dmOf } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import {
  channelOf,
  groupOf,
  moderates,
  over,
  type Person,
  people,
  person,
  sealed,
  staysSilent,
} from '#test/support/people'
import { call } from '#test/support/wallet'

let one: Person
let two: Person
let round = 0

const { server } = await bootWith([])
beforeEach(async () => {
  round += 1
  ;[one, two] = await people(server, `starring ${round}`, `starred ${round}`)
})

const says = async (who: Person, room: RoomRef, text: string) =>
  (await who.does('rest', messages.send, { room, text })).message.id
const inChannel = (room: RoomRef, messageId: string) =>
  ({ messageId, messageType: 'channel', channelId: room.id ?? '' }) as const
const textsOf = async (who: Person) => (await who.does('rest', stars.list, {})).messages.map(({ content }) => content)

describe('starred messages', () => {
  test.each(over)(
    'over %s: are listed as they are now, newest star first, until the star is taken away',
    async (door) => {
      const room = await channelOf(one, two)
      const [first, second] = [await says(two, room, 'First'), await says(two, room, 'Second')]
      await one.does(door, stars.add, { ...inChannel(room, first), notes: 'For the trip' })
      const { starred } = await one.does(door, stars.add, { ...inChannel(room, second), userAddress: one.account })
      expect(starred).toMatchObject({
        ...{ user_address: one.account, message_id: second, message_type: 'channel', channel_id: room.id },
        ...{ group_id: null, peer_address: null, sender_address: two.account, content: 'Second', notes: null },
      })
      await two.does('rest', messages.edit, { room, id: first, text: 'First, mended' })
      const listed = await one.does(door, stars.list, { type: 'channel' })
      expect(listed).toMatchObject({
        messages: [{ content: 'Second' }, { content: 'First, mended', notes: 'For the trip' }],
        next: null,
      })
      expect((await one.does(door, stars.list, { type: 'group' })).messages).toEqual([])
      const page = await one.does(door, stars.list, { limit: 1 })
      expect(page).toMatchObject({ messages: [{ content: 'Second' }], next: starred.id })
      const rest = await one.does(door, stars.list, { limit: 1, before: page.next })
      expect(rest).toMatchObject({ messages: [{ content: 'First, mended' }], next: null })
      await one.does(door, stars.add, inChannel(room, first))
      await one.does(door, stars.add, { ...inChannel(room, second), notes: 'Later' })
      const again = (await one.does(door, stars.list, {})).messages
      expect(again.map(({ notes }) => notes)).toEqual(['Later', 'For the trip'])
      for (const notes of [null, '']) {
        const cleared = await one.does(door, stars.add, { ...inChannel(room, second), notes })
        expect(cleared.starred).toMatchObject({ id: starred.id, notes: null })
        await one.does(door, stars.add, { ...inChannel(room, second), notes: 'Again' })
      }
      for (let twice = 0; twice < 2; twice++) await one.does(door, stars.remove, { messageId: first })
      expect(await textsOf(one)).toEqual(['Second'])
    },
  )

  test('documented fields that say what the message said are not taken for true', async () => {
    const room = await channelOf(one, two)
    const messageId = await says(two, room, 'As it was')
    const told = { content: 'Forged', senderAddress: one.account, senderName: 'Nobody', channelName: 'Elsewhere' }
    const empty = { groupId: '', peerAddress: null, notes: '' }
    const { status, body } = await one.rest('POST /api/messages/starred', {
      ...inChannel(room, messageId),
      ...{ ...told, ...empty, userAddress: one.account },
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { success: true, starred: { content: 'As it was', sender_address: two.account } },
    })
  })

  test('a message that is deleted, or whose room may not be read now, does not live on by a star', async () => {
    const [room, group] = [await channelOf(one, two), await groupOf(one, two)]
    const [own, removed, secret] = [
      await says(two, room, 'Taken back'),
      await says(two, room, 'Taken away'),
      await says(one, group, 'Among us'),
    ]
    for (const id of [own, removed]) await one.does('rest', stars.add, inChannel(room, id))
    for (const who of [one, two])
      await who.does('rest', stars.add, { messageId: secret, messageType: 'group', groupId: group.id })
    expect(JSON.stringify(await Stars.find({}).lean())).not.toMatch(/Taken|Among/)
    await two.does('rest', messages.remove, { room, id: own })
    await one.does('rest', messages.remove, { room, id: removed })
    expect(await textsOf(one)).toEqual(['Among us'])
    expect(await textsOf(two)).toEqual(['Among us'])
    await moderates(one, { room: group, action: 'ban', target: two.account })
    expect(await textsOf(two)).toEqual([])
    expect(await textsOf(one)).toEqual(['Among us'])
  })

  test('of a direct conversation what was sent is told, sealed, to the two alone', async () => {
    const third = await person(server, `stars: third ${round}`)
    const text = sealed()
    const messageId = await says(two, dmOf(one.account, two.account), text)
    const named = { messageId, messageType: 'dm' } as const
    await one.does('rest', stars.add, { ...named, peerAddress: two.account })
    const [told] = (await one.does('rest', stars.list, { type: 'dm' })).messages
    expect(told).toMatchObject({ content: text, peer_address: two.account })
    for (const peerAddress of [one.account, two.account])
      expect(await third.refused('rest', stars.add, { ...named, peerAddress })).toMatchObject({
        code: expect.stringMatching(/^(ROOM|MESSAGE)_NOT_FOUND$/),
      })
    expect(await textsOf(third)).toEqual([])
  })

  test.each(over)('over %s: only who may read a message stars it, where it is', async (door) => {
    const third = await person(server, `stars: outside ${door} ${round}`)
    const [room, group, other] = [await channelOf(one, two), await groupOf(one), await channelOf(one)]
    const [id, secret, deleted] = [
      await says(one, room, 'Here'),
      await says(one, group, 'Secret'),
      await says(one, room, 'Gone'),
    ]
    await one.does('rest', messages.remove, { room, id: deleted })
    const code = async (who: Person, input: object) => (await who.refused(door, stars.add, input as never)).code
    const inGroup = { messageId: secret, messageType: 'group', groupId: group.id }
    expect(await code(third, inGroup)).toBe('ROOM_NOT_FOUND')
    expect(await code(third, { ...inGroup, messageType: 'channel', channelId: room.id })).toBe('MESSAGE_NOT_FOUND')
    expect(await code(one, inChannel(other, id))).toBe('MESSAGE_NOT_FOUND')
    expect(await code(one, inChannel(room, deleted))).toBe('MESSAGE_NOT_FOUND')
    await moderates(one, { room, action: 'rules', patch: { rules: { read_access: 'members' } } })
    expect(await code(third, inChannel(room, id))).toBe('NOT_A_MEMBER')
    await moderates(one, { room, action: 'ban', target: two.account })
    expect(await code(two, inChannel(room, id))).toBe('BANNED')
    for (const fault of [
      { channelId: null },
      { messageType: 'nowhere' },
      { messageId: '' },
      { notes: 'x'.repeat(501) },
    ])
      expect(await code(one, { ...inChannel(room, id), ...fault })).toBe('VALIDATION_ERROR')
    expect(await Stars.countDocuments({ user_address: { $in: [two.account, third.account] } })).toBe(0)
  })

  test.each(over)('over %s: stars are of their account alone', async (door) => {
    const room = await channelOf(one, two)
    const messageId = await says(one, room, 'Mine')
    await one.does(door, stars.add, inChannel(room, messageId))
    const userAddress = one.account
    for (const refused of [
      await two.refused(door, stars.list, { userAddress }),
      await two.refused(door, stars.add, { userAddress, ...inChannel(room, messageId) }),
      await two.refused(door, stars.remove, { userAddress, messageId }),
    ])
      expect(refused).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    await two.does(door, stars.remove, { messageId })
    expect(await textsOf(two)).toEqual([])
    expect(await textsOf(one)).toEqual(['Mine'])
    expect((await call(server.url, 'GET /api/messages/starred')).status).toBe(401)
  })

  test('an account has 500; what cannot be read any more makes room', async () => {
    const room = await channelOf(one)
    const [kept, more] = [await says(one, room, 'Kept'), await says(one, room, 'More')]
    await one.does('rest', stars.add, inChannel(room, kept))
    const star = await Stars.findOne({ user_address: one.account, message_id: kept }).lean()
    const fill = (message_id: string) =>
      Stars.insertMany(
        Array.from({ length: starsAtMost - 1 }, (_, at) => ({
          ...star,
          _id: `${one.account} filled ${at}`,
          message_id,
        })),
      )
    await fill(kept)
    expect((await one.refused('rest', stars.add, inChannel(room, more))).code).toBe('CONFLICT')
    await one.does('rest', stars.add, { ...inChannel(room, kept), notes: 'Changed' })
    await Stars.deleteMany({ user_address: one.account, _id: { $ne: star?._id ?? '' } })
    await fill('gone')
    await one.does('rest', stars.add, inChannel(room, more))
    expect(await textsOf(one)).toEqual(['More', 'Kept'])
    expect(await Stars.countDocuments({ user_address: one.account })).toBe(2)
  })

  test('every device of the account is told, wherever it is connected, and nobody else', heavy, async () => {
    const other = await person(server, `starring ${round}`)
    const room = await channelOf(one, two)
    const message_id = await says(two, room, 'Look')
    const mine = [await one.socket('/notifications'), await other.socket('/notifications')]
    const theirs = await two.socket('/notifications')
    await one.does('rest', stars.add, inChannel(room, message_id))
    for (const line of mine) expect(await line.hears(starChanged)).toEqual({ message_id, is_starred: true })
    await other.does('rest', stars.remove, { messageId: message_id })
    for (const line of mine) await line.hears(starChanged, ({ is_starred }) => !is_starred)
    await staysSilent(theirs, starChanged)
  })
})

describe('a message that is named without its room', () => {
  const removes = (who: Person, messageId: string) => who.rest('POST /api/messages/delete', { messageId })

  test('is deleted by its author, and by who may delete there', async () => {
    const room = await channelOf(one, two)
    const [own, other] = [await says(two, room, 'Own'), await says(two, room, 'Other')]
    const sent = await says(one, dmOf(one.account, two.account), sealed())
    for (const [who, id] of [
      [two, own],
      [two, own],
      [one, other],
      [one, sent],
    ] as const)
      expect((await removes(who, id)).body).toEqual({ success: true })
    const { messages: left } = await one.does('rest', messages.history, { room })
    expect(left.map(({ is_deleted }) => is_deleted)).toEqual([true, true])
  })

  test('is deleted by nobody else, who learns no more of it than they could', async () => {
    const third = await person(server, `deleting ${round}`)
    const [room, group] = [await channelOf(one, two), await groupOf(one)]
    const [said, secret] = [await says(one, room, 'Said'), await says(one, group, 'Secret')]
    const sent = await says(one, dmOf(one.account, two.account), sealed())
    const code = async (who: Person, id: string) => {
      const { status, code } = await removes(who, id)
      return `${status} ${code}`
    }
    expect(await code(two, said)).toBe('403 FORBIDDEN')
    expect(await code(two, sent)).toBe('403 FORBIDDEN')
    expect(await code(third, said)).toBe('403 NOT_A_MEMBER')
    for (const id of [secret, sent, 'nothing']) expect(await code(third, id)).toBe('404 MESSAGE_NOT_FOUND')
    for (const id of ['', 7, null]) expect(await code(one, id as never)).toBe('400 VALIDATION_ERROR')
    const forged = await two.rest('POST /api/messages/delete', { messageId: said, userAddress: one.account })
    expect(forged.status).toBe(403)
    expect((await call(server.url, 'POST /api/messages/delete', { messageId: said })).status).toBe(401)
    const own = await says(two, room, 'Own')
    await moderates(one, { room, action: 'ban', target: two.account })
    expect(await code(two, own)).toBe('403 BANNED')
    await two.rest('POST /api/users/block', { userAddress: one.account })
    expect(await code(one, sent)).toBe('403 BLOCKED')
    await one.does('rest', rooms.archive, { room })
    expect(await code(one, said)).toBe('409 ROOM_ARCHIVED')
    expect((await removes(one, secret)).body).toEqual({ success: true })
  })
})
