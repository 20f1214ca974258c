// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inbox, unreadChanged, unreadSnapshot } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, over, type Person, people, sealed } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person
beforeAll(async () => {
  server = await boot()
  ;[owner, member] = await people(server, 'owner', 'member')
})
afterAll(() => server.close())

const listed = async (door: 'rest' | 'socket', room: RoomRef) =>
  (await member.does(door, inbox.list, {})).rooms.find(({ id }) => id === room.id)?.last_message

test.each(over)('N58: a preview over %s is in words, without marks, and says who wrote it', async (door) => {
  const room = await channelOf(owner, member)
  const { name } = (await owner.does(door, messages.send, { room, text: 'a' })).message.sender
  const reads = async (text: string) => {
    await owner.does(door, messages.send, { room, text })
    expect(await listed(door, room)).toMatchObject({ sender_address: owner.account, sender_name: name })
    return (await listed(door, room))?.preview
  }
  expect(await reads('**bold** words')).toBe('bold words')
  expect(await reads('> quoted\n\n- one `x*y`\n- two')).toBe('quoted one x*y two')
  expect(await reads('see [the page](https://plaza.example/a) and [that](plaza.example)')).toBe(
    'see the page and [that](plaza.example)',
  )
  expect(await reads('vector<int> & ~~old~~ 2 * 3')).toBe('vector<int> & old 2 * 3')
  expect(await reads('1. first\n2. second')).toBe('first second')
  expect(await reads('# Agenda\n## At ten\n- tea')).toBe('Agenda At ten tea')
  expect(await reads(`**${'b'.repeat(80)}**`)).toBe('b'.repeat(50))
  expect(await reads('[LOCATION]{"lat":1,"lng":1}')).toBe('Location')
})

test(
  'N58: devices are told the newest message as it is now: said, edited, deleted, a poll that is taken back',
  heavy,
  async () => {
    const room = await channelOf(owner, member)
    const line = await member.socket('/notifications')
    await line.hears(unreadSnapshot)
    const told = (preview: string, of?: { created_at: string }) =>
      line.hears(
        unreadChanged,
        ({ room: about, last_message: last }) =>
          roomKey(about) === roomKey(room) && last?.preview === preview && (!of || last.created_at === of.created_at),
      )
    const { message } = await owner.does('socket', messages.send, { room, text: 'at *nine*' })
    expect((await told('at nine')).last_message).toEqual({
      sender_address: owner.account,
      sender_name: message.sender.name,
      preview: 'at nine',
      created_at: message.created_at,
    })
    await owner.does('rest', messages.edit, { room, id: message.id, text: 'at *ten*' })
    await told('at ten')
    await owner.does('socket', messages.remove, { room, id: message.id })
    expect((await told('Message deleted')).last_message).toMatchObject({ sender_name: null })
    const { poll, message: asking } = await owner.does('rest', polls.create, {
      room,
      question: 'Tea?',
      options: ['Yes', 'No'],
    })
    await told('Poll')
    await owner.does('rest', polls.remove, { room, pollId: poll.id })
    await told('Message deleted', asking)
    expect(await listed('rest', room)).toMatchObject({ preview: 'Message deleted', sender_name: null })
  },
)

test('of direct conversations the newest message is told by its sender, kind and time, and by no word', async () => {
  const [reader, one, other] = await people(server, 'reads previews', 'writes once', 'writes twice')
  const previews = async (who: Person) => (await who.does('rest', inbox.directPreviews, {})).previews
  expect(await previews(reader)).toEqual([])
  const say = async (from: Person, to: Person) =>
    (await from.does('rest', messages.send, { room: dmOf(from.account, to.account), text: sealed() })).message
  await say(one, reader)
  await say(other, reader)
  const last = await say(other, reader)
  const answer = await say(reader, one)
  await channelOf(reader)
  const of = (peer: Person, sender: Person, { created_at: sent_at }: { created_at: string }) => ({
    conversation_id: `/plaza/1/dm/${[reader.account, peer.account].sort().join('-')}/proto`,
    sender_address: sender.account,
    content: null,
    message_type: 'text',
    sent_at,
    peer_address: peer.account,
  })
  const told = [of(one, reader, answer), of(other, other, last)]
  await expect.poll(() => previews(reader)).toEqual(told)
  expect((await previews(one)).map(({ peer_address }) => peer_address)).toEqual([reader.account])
  const asked = await reader.rest(`GET /api/dm/previews?userAddress=${one.account}`)
  expect(asked).toMatchObject({ status: 403, code: 'FORBIDDEN' })
})
