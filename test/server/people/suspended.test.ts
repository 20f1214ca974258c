// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spellingsOf } from '#server/kernel/http/http-input'
import { api } from '#shared/api/index'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { expandRoute, type Operation, operationsOf, refusesSuspended } from '#shared/kit/contract'
import { fileOf } from '#shared/kit/json-schema'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import {
  alpha,
  channelOf,
  type Door,
  eventOf,
  groupOf,
  moderates,
  over,
  type Person,
  person,
  personAt,
  sealed,
} from '#test/support/people'
import { solo } from '#test/support/solo'
import { codeOf, wallet } from '#test/support/wallet'

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
  server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('root').address } })
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
  /** Sealed messages are not searched, these rooms have no shared key, and the poll is in one of them. */
  const isRefusedToAll = (name: string, kind: string) =>
    (name === 'messages.search' && kind === 'dm') ||
    name === 'rooms.sharedKey' ||
    (name === 'polls.voters' && kind !== 'channel')

  solo.each(reads)('%s over %s', async (name, door, operation) => {
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

  solo('there are many, and one that listens', () => {
    expect(reads.length).toBeGreaterThan(12)
    expect(reads.map(([name]) => name)).toContain('messages.join')
  })

  solo('what happens is told to who listens', async () => {
    const room = places.channel as RoomRef
    const line = await suspended.line()
    await suspended.does('socket', messages.join, { room })
    await owner.does('rest', messages.send, { room, text: 'told to all' })
    await line.hears('room:event')
  })
})

/** What an operation is asked at: each of its paths, and its event. */
const placesOf = (operation: Operation) => [
  ...spellingsOf(operation)
    .flatMap(({ route }) => expandRoute(route))
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path, query }) => `${method} ${path}${query ? `?${new URLSearchParams(query)}` : ''}`),
  ...(operation.socket ? ['socket'] : []),
]

async function codeAt(who: Person, operation: Operation, place: string): Promise<string | null> {
  if (place === 'socket') {
    const { namespace, event } = eventOf(operation)
    const answer = await who.ask(event, {}, namespace)
    return answer.ok ? null : answer.error.code
  }
  const path = place.replaceAll(/:\w+/g, '1')
  return (await (fileOf(operation) ? sendsFile(who, path) : who.rest(path, {}))).code
}

async function sendsFile({ url, token }: Person, path: string): Promise<{ code: string | null }> {
  const body = new FormData()
  body.set('file', new Blob(['x']), 'x')
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(url + path.replace('POST ', ''), { method: 'POST', headers, body })
  return { code: codeOf(await answer.json()) }
}

describe('N08: suspended people write nothing, over both doors alike', () => {
  const writing = operationsOf(api).filter(({ operation }) => refusesSuspended(operation) === 'caller')

  solo.each(writing)('$name', async ({ operation }) => {
    for (const place of placesOf(operation)) expect(await codeAt(suspended, operation, place), place).toBe('SUSPENDED')
  })

  solo('there are many', () => {
    expect(writing.length).toBeGreaterThan(70)
  })

  // Those of rooms need an input, as they are judged by the log.
  const judged = inRooms
    .filter(({ operation }) => refusesSuspended(operation) === 'judge')
    .flatMap(({ name, operation }) => doorsOf(operation).map((door) => [name, door, operation] as const))

  solo.each(judged)('%s over %s', async (_name, door, operation) => {
    const refused = await suspended.refused(door, operation, inputOf(operation, places.channel as RoomRef) as never)
    expect(refused).toMatchObject({ code: 'SUSPENDED', status: 403 })
  })

  solo('a message is refused with its verdict, and what was said before is answered again', async () => {
    const room = places.channel as RoomRef
    const said = { room, text: 'once', client_msg_id: 'said-before' }
    const author = await person(server, 'author')
    await author.does('rest', rooms.join, { room })
    const { message } = await author.does('rest', messages.send, said)
    await root.does('rest', accounts.suspend, { userAddress: author.account, ban: true })
    for (const door of over) {
      const { code, status, verdict } = await author.refused(door, messages.send, { room, text: 'twice' })
      expect({ code, status }).toEqual({ code: 'SUSPENDED', status: 403 })
      expect(verdict).toMatchObject({ ok: false, step: 'suspension', code: 'SUSPENDED' })
      expect((await author.does(door, messages.send, said)).message.id).toBe(message.id)
    }
  })

  solo('a check says so', async () => {
    const room = places.channel as RoomRef
    const { verdict } = await suspended.does('rest', messages.check, { room, text: 'hello' })
    expect(verdict).toMatchObject({ ok: false, code: 'SUSPENDED', step: 'suspension' })
  })

  test('it holds on every node once it is acknowledged, and no longer than it lasts', async () => {
    const on = await Promise.all(server.urls.map((url) => personAt(url, 'to and fro')))
    const { account } = on[0] as Person
    for (const ban of [true, false, true, false]) {
      await root.does('rest', accounts.suspend, { userAddress: account, ban })
      for (const who of on) {
        const answer = await who.tries('rest', accounts.claimUsername, { username: 'to_and_fro' })
        expect(answer.ok || answer.error.code, who.url).toBe(ban ? 'SUSPENDED' : true)
      }
    }
  })
})

solo(
  'N08: suspended people still read, sign in and out, and end what is their own, over both doors',
  heavy,
  async () => {
    const leaver = await person(server, 'leaver')
    await root.does('rest', accounts.suspend, { userAddress: leaver.account, ban: true })
    const free = operationsOf(api)
      .filter(({ operation }) => operation.whileSuspended && !refusesSuspended(operation))
      .sort(({ name }, other) => Number(name === 'identity.logout') - Number(other.name === 'identity.logout'))
    for (const { name, operation } of free)
      for (const place of placesOf(operation))
        expect(['SUSPENDED', 'UNAUTHORIZED', 'SESSION_NOT_FOUND'], `${name} ${place}`).not.toContain(
          await codeAt(leaver, operation, place),
        )
    expect(free.map(({ name }) => name)).toContain('sessions.endOthers')
  },
)
