// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { api } from '#shared/api/index'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { type Operation, operationsOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { type Body, channelOf, over, type Person, person, say } from '#test/support/people'
import { wallet } from '#test/support/wallet'

/** What is there to act on. */
interface Scene {
  id: string
  pollId: string
}

let server: Booted
let owner: Person
let member: Person
let room: RoomRef
let heirs = 0
beforeAll(async () => {
  // Who has handed the room over may do so again.
  const environment = { SUPER_ADMINS: wallet('keys-owner').address }
  server = await boot({ entry: 'in alpha', environment })
  owner = await person(server, 'keys-owner')
  member = await person(server, 'keys-member')
  room = await channelOf(owner, member)
})
afterAll(() => server.close())

async function scene(): Promise<Scene> {
  const { id } = await say(owner, room, 'something')
  const { poll } = await owner.does('rest', polls.create, { room, question: 'Tea?', options: ['yes', 'no'] })
  return { id, pollId: poll.id }
}

const acts: { [name: string]: (scene: Scene) => Body | Promise<Body> } = {
  'messages.send': () => ({ text: 'hello' }),
  'messages.edit': ({ id }) => ({ id, text: 'hello' }),
  'messages.remove': ({ id }) => ({ id }),
  'messages.react': ({ id }) => ({ id, emoji: '👍' }),
  'messages.pin': ({ id }) => ({ id, pinned: true }),
  'polls.create': () => ({ question: 'Coffee?', options: ['yes', 'no'] }),
  'polls.vote': ({ pollId }) => ({ pollId, optionIndex: 0 }),
  'rooms.handOver': async () => {
    heirs += 1
    const heir = await person(server, `keys-heir-${heirs}`)
    await heir.does('rest', rooms.join, { room })
    return { address: heir.account }
  },
  'rooms.setTopic': ({ id }) => ({ topic: `About ${id}` }),
  'moderation.act': () => ({ action: 'warn', target: member.account }),
}

/** All that act in the log of a room under a key of the caller. */
const keyed = operationsOf(api).filter(
  ({ operation: { input, idempotency, ...declared } }) =>
    (idempotency?.kept === 'log' && 'room' in input.shape) || declared.socket === moderation.act.socket,
)
const doorsOf = ({ http, socket }: Operation) => over.filter((door) => (door === 'rest' ? http : socket))

describe('N40: a key that one act has used is refused for every other, over both doors', () => {
  test.each(keyed)('$name', async ({ name, operation }) => {
    const inputOf = async (of: (typeof keyed)[number], key: string) => {
      const said = (await acts[of.name]?.(await scene())) ?? expect.fail(`${of.name} has no input here`)
      return { room, ...said, [of.operation.idempotency?.key ?? '']: key } as never
    }
    const key = `used-by-${name}`
    await owner.does('rest', operation, await inputOf({ name, operation }, key))
    for (const other of keyed.filter((one) => one.name !== name))
      for (const door of doorsOf(other.operation)) {
        const refused = await owner.refused(door, other.operation, await inputOf(other, key))
        expect(refused, `${other.name} over ${door}`).toMatchObject({ code: 'CONFLICT', status: 409 })
      }
  })
})

describe('N81: a key that an act has used is refused for the same act with another input', () => {
  const others: { [name: string]: (scene: Scene, first: Body) => Body | Promise<Body> } = {
    ...acts,
    'messages.send': () => ({ text: 'another' }),
    'messages.edit': (_, first) => ({ ...first, text: 'another' }),
    'messages.react': (_, first) => ({ ...first, emoji: '🎈' }),
    'polls.vote': (_, first) => ({ ...first, optionIndex: 1 }),
    'polls.create': (_, first) => ({ ...first, question: 'Milk?' }),
    'moderation.act': () => ({ action: 'warn', target: second.account }),
  }
  let second: Person
  beforeAll(async () => {
    second = await person(server, 'keys-second')
    await second.does('rest', rooms.join, { room })
  })

  test.each(keyed)('$name', async ({ name, operation }) => {
    const field = operation.idempotency?.key ?? ''
    for (const door of doorsOf(operation)) {
      const keyOf = { [field]: `again-${name}-${door}` }
      const input = { room, ...((await acts[name]?.(await scene())) ?? expect.fail()), ...keyOf }
      await owner.does(door, operation, input as never)
      const other = { room, ...((await others[name]?.(await scene(), input)) ?? expect.fail()), ...keyOf }
      const refused = await owner.refused(door, operation, other as never)
      expect(refused, door).toMatchObject({ code: 'CONFLICT', status: 409 })
      await owner.does(door, operation, input as never)
    }
  })

  const asked = { question: 'Coffee?', options: ['yes', 'no'] }
  const named = () => [{ kind: 'user', id: member.account, start: 0, len: 5 }]
  test.each<[string, Operation, () => Promise<[Body, Body]>]>([
    ['the options of a poll', polls.create, async () => [asked, { ...asked, options: ['yes', 'never'] }]],
    ['who sees the votes of a poll', polls.create, async () => [asked, { ...asked, isAnonymous: true }]],
    ['how many may be chosen', polls.create, async () => [asked, { ...asked, allowsMultiple: true }]],
    ['the end of a poll', polls.create, async () => [asked, { ...asked, endsAt: '2199-01-01T00:00:00.000Z' }]],
    ['whom a message names', messages.send, async () => [{ text: 'hello' }, { text: 'hello', mentions: named() }]],
    [
      'whom an edit names',
      messages.edit,
      async () => {
        const { id } = await scene()
        return [
          { id, text: 'hello' },
          { id, text: 'hello', mentions: named() },
        ]
      },
    ],
    [
      'the version of an edit',
      messages.edit,
      async () => {
        const { id } = await scene()
        return [
          { id, text: 'hello' },
          { id, text: 'hello', version: 9 },
        ]
      },
    ],
    [
      'the reason of a deletion',
      messages.remove,
      async () => {
        const { id } = await scene()
        return [
          { id, reason: 'one' },
          { id, reason: 'another' },
        ]
      },
    ],
  ])('%s is part of it', async (_what, operation, inputs) => {
    for (const door of doorsOf(operation)) {
      const field = { room, [operation.idempotency?.key ?? '']: crypto.randomUUID() }
      const [first, other] = await inputs()
      await owner.does(door, operation, { ...field, ...first } as never)
      expect(await owner.refused(door, operation, { ...field, ...other } as never)).toMatchObject({ code: 'CONFLICT' })
      await owner.does(door, operation, { ...field, ...first } as never)
    }
  })

  test('the order of fields is not, nor the caller’s own name, nor the spelling of the path', async () => {
    const ask = async (path: string, body: Body) => (await member.rest(`POST ${path}`, body)).status
    const to = { toAddress: second.account, idempotency_key: 'asked-once' }
    const ways: [string, Body][] = [
      ['/api/friends/request', { ...to, memo: 'hello' }],
      ['/api/friends/request', { memo: 'hello', ...to }],
      ['/api/friends/request', { ...to, memo: 'hello', fromAddress: member.account }],
      ['/api/friend-requests', { ...to, memo: 'hello' }],
      ['/api/friend-requests', { ...to, memo: 'hello', from_address: member.account }],
    ]
    for (const [path, body] of ways) expect(await ask(path, body), JSON.stringify(body)).toBe(200)
    expect(await ask('/api/friend-requests', { ...to, memo: 'goodbye' })).toBe(409)
  })

  test('a message that was edited since is still answered for its key', async () => {
    const input = { room, text: 'as it was', client_msg_id: 'edited-since' }
    const { message } = await owner.does('rest', messages.send, input)
    await owner.does('rest', messages.edit, { room, id: message.id, text: 'as it is' })
    expect(await owner.does('socket', messages.send, input)).toMatchObject({
      duplicate: true,
      message: { id: message.id },
    })
    await owner.does('rest', messages.remove, { room, id: message.id })
    expect(await owner.does('rest', messages.send, input)).toMatchObject({ duplicate: true })
  })

  test('a header and a field that name two keys contradict each other', async () => {
    const body = { text: 'once', client_msg_id: 'of-the-body' }
    const send = (key: string) => owner.rest('POST /api/rooms/alpha/messages', body, { 'idempotency-key': key })
    expect(await send('of-the-header')).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect((await send('of-the-body')).status).toBe(200)
  })
})
