// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accounts } from '#shared/api/accounts'
import { api } from '#shared/api/index'
import { messages } from '#shared/api/messages'
import { polls } from '#shared/api/polls'
import { type Operation, operationsOf } from '#shared/kit/contract'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { alpha, channelOf, type Door, groupOf, moderates, type Person, person, sealed } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const inRooms = operationsOf(api).filter(({ operation }) => 'room' in operation.input.shape)
const isRead = ({ name, operation: { http } }: (typeof inRooms)[number]) =>
  http?.startsWith('GET ') || name === 'messages.join'
const doorsOf = ({ http, socket }: Operation): Door[] => [
  ...(http ? ['rest' as const] : []),
  ...(socket?.startsWith('/rooms ') ? ['socket' as const] : []),
]

let server: Booted
let root: Person
let owner: Person
let member: Person
let suspended: Person
const places: { [kind: string]: RoomRef } = {}
const fields: Record<string, unknown> = {}

beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('root').address } })
  root = await person(server, 'root')
  owner = await person(server, 'owner')
  member = await person(server, 'member')
  suspended = await person(server, 'suspended')
  const room = await channelOf(owner, member, suspended)
  const closed = await channelOf(owner, member, suspended)
  Object.assign(places, { channel: room, closed, group: await groupOf(owner, member, suspended), alpha })
  await moderates(owner, { room: closed, action: 'rules', patch: { rules: { read_access: 'members' } } })
  const { message } = await suspended.does('rest', messages.send, { room, text: 'hello' })
  const { poll } = await suspended.does('rest', polls.create, { room, question: 'Tea?', options: ['yes', 'no'] })
  for (const friend of [member, suspended])
    await owner.does('rest', messages.send, { room: dmOf(owner.account, friend.account), text: sealed() })
  Object.assign(fields, {
    query: 'hello',
    messageIds: message.id,
    id: message.id,
    pollId: poll.id,
    text: 'hello again',
    emoji: '👍',
    pinned: true,
    on: true,
    question: 'Coffee?',
    options: ['yes', 'no'],
    isClosed: true,
    optionIndex: 0,
    name: 'Another name',
    address: member.account,
    role: 'moderator',
    topic: 'Tea',
    action: 'mute',
    target: member.account,
  })
  await root.does('rest', accounts.suspend, { userAddress: suspended.account, ban: true })
})
afterAll(() => server.close())

const inputOf = ({ input }: Operation, room: RoomRef) => ({
  room,
  ...Object.fromEntries(Object.entries(fields).filter(([name]) => name in input.shape)),
})

describe('suspended people can still read, over both doors alike', () => {
  const reads = inRooms
    .filter(isRead)
    .flatMap(({ name, operation }) => doorsOf(operation).map((door) => [name, door, operation] as const))
  /** Reads that are for those who act on others. */
  const forManagers = ['invitations.list']
  /** Sealed messages are not searched, and these rooms have no shared key. */
  const isRefusedToAll = (name: string, kind: string) =>
    (name === 'messages.search' && kind === 'dm') || name === 'rooms.sharedKey'

  test.each(reads)('%s over %s', async (name, door, operation) => {
    for (const kind of ['channel', 'closed', 'group', 'alpha', 'dm']) {
      const answered = async (who: Person) => {
        const room = places[kind] ?? dmOf(owner.account, who.account)
        return who.does(door, operation, inputOf(operation, room) as never).then(
          () => 'answered',
          (error: Error) => error.message,
        )
      }
      const told = { kind, member: await answered(member), suspended: await answered(suspended) }
      if (forManagers.includes(name)) expect([told.member, told.suspended]).not.toContain('answered')
      else if (isRefusedToAll(name, kind)) expect(told.suspended).toBe(told.member)
      else expect(told).toEqual({ kind, member: 'answered', suspended: 'answered' })
    }
  })

  test('there are many, and one that listens', () => {
    expect(reads.length).toBeGreaterThan(12)
    expect(reads.map(([name]) => name)).toContain('messages.join')
  })

  test('what happens is told to who listens', async () => {
    const room = places.channel as RoomRef
    const line = await suspended.line()
    await suspended.does('socket', messages.join, { room })
    await owner.does('rest', messages.send, { room, text: 'told to all' })
    await line.hears('room:event')
  })
})

describe('suspended people can change nothing, over both doors alike', () => {
  /** These change what is the own, or tell the verdict. */
  const own = ['rooms.leave', 'messages.leave', 'messages.read', 'messages.check', 'moderation.simulate']
  // Those with a file need a form: `uploads-shown.test.ts` has them.
  const acts = inRooms
    .filter(({ operation }) => !('file' in operation.input.shape))
    .filter((declared) => !isRead(declared) && !own.includes(declared.name))
    .flatMap(({ name, operation }) => doorsOf(operation).map((door) => [name, door, operation] as const))

  test.each(acts)('%s over %s', async (_name, door, operation) => {
    const refused = await suspended.refused(door, operation, inputOf(operation, places.channel as RoomRef) as never)
    expect(refused).toMatchObject({ code: 'SUSPENDED', status: 403 })
  })

  test('a check says so', async () => {
    const room = places.channel as RoomRef
    const { verdict } = await suspended.does('rest', messages.check, { room, text: 'hello' })
    expect(verdict).toMatchObject({ ok: false, code: 'SUSPENDED', step: 'suspension' })
  })
})
