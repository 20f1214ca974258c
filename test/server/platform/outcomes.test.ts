// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { moderation } from '#shared/api/moderation/moderation'
import type { Act } from '#shared/api/moderation/moderation-acts'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { status } from '#shared/api/people/status'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import type { ErrorCode } from '#shared/errors'
import type { Operation } from '#shared/kit/contract'
import { errorCodesOf } from '#shared/kit/json-schema'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import {
  alpha,
  type Body,
  channelOf,
  groupOf,
  moderates,
  over,
  type Person,
  person,
  sealed,
} from '#test/support/people'
import { wallet } from '#test/support/wallet'

/** Somebody in a room, with a message and a poll that they could touch if nothing stood in their way. */
interface Scene {
  who: Person
  room: RoomRef
  message: string
  poll: string
}

const drinks = { question: 'Tea?', options: ['yes', 'no'] }
let server: Booted
let root: Person
let owner: Person
let outsider: Person
let bystander: Person

beforeAll(async () => {
  server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('root').address } })
  root = await person(server, 'root')
  owner = await person(server, 'owner')
  outsider = await person(server, 'outsider')
  bystander = await person(server, 'bystander')
})
afterAll(() => server.close())

async function lived(room: RoomRef, who: Person, text = 'hello'): Promise<Scene> {
  const { message } = await who.does('socket', messages.send, { room, text })
  if (room.type === 'dm') return { who, room, message: message.id, poll: message.id }
  const { poll } = await who.does('socket', polls.create, { room, ...drinks })
  return { who, room, message: message.id, poll: poll.id }
}

/** A room for holders of a token, which no operation makes. */
async function tokenRoom(): Promise<RoomRef> {
  const room = { type: 'token', id: crypto.randomUUID() } as const
  const now = new Date().toISOString()
  const shown = { name: 'Holders', emoji: '🪙', category: 'token' }
  await Rooms.create({ _id: roomKey(room), ...room, ...shown, created_at: now, updated_at: now })
  await owner.does('rest', rooms.join, { room })
  return room
}

const scenes: { [Code in ErrorCode]?: () => Promise<Scene> } = {
  async ROOM_NOT_FOUND() {
    return { ...(await lived(await groupOf(owner), owner)), who: outsider }
  },
  async NOT_A_MEMBER() {
    return { ...(await lived(await tokenRoom(), owner)), who: outsider }
  },
  async BANNED() {
    const scene = await lived(await groupOf(owner, bystander), bystander)
    await moderates(owner, { room: scene.room, action: 'ban', target: bystander.account })
    return scene
  },
  async MUTED() {
    const scene = await lived(await channelOf(owner, bystander), bystander)
    await owner.does('rest', rooms.setRole, { room: scene.room, address: bystander.account, role: 'admin' })
    await moderates(owner, { room: scene.room, action: 'mute', target: bystander.account })
    return scene
  },
  async ROOM_ARCHIVED() {
    const scene = await lived(await groupOf(owner), owner)
    await owner.does('rest', rooms.archive, { room: scene.room })
    return scene
  },
  async SUSPENDED() {
    const suspended = await person(server, 'suspended')
    const scene = await lived(await groupOf(suspended), suspended)
    await root.does('rest', accounts.suspend, { userAddress: suspended.account, ban: true })
    return scene
  },
  async BLOCKED() {
    const scene = await lived(dmOf(owner.account, outsider.account), owner, sealed())
    await outsider.does('rest', social.block, { userAddress: owner.account })
    return scene
  },
}

type Asked = readonly [name: string, operation: Operation, input: (scene: Scene) => Body]
const inRoom = ({ room }: Scene) => ({ room })
const onMessage = ({ room, message }: Scene) => ({ room, id: message })
const onPoll = ({ room, poll }: Scene) => ({ room, pollId: poll })
const text = ({ room }: Scene) => ({ room, text: room.type === 'dm' ? sealed() : 'hello' })
const target = (scene: Scene) => ({ room: scene.room, address: bystander.account })

const asked: readonly Asked[] = [
  ['messages.join', messages.join, inRoom],
  ['messages.sync', messages.sync, inRoom],
  ['messages.history', messages.history, inRoom],
  ['messages.search', messages.search, ({ room }) => ({ room, query: 'hello' })],
  ['messages.send', messages.send, text],
  ['messages.check', messages.check, text],
  ['messages.edit', messages.edit, (scene) => ({ ...onMessage(scene), ...text(scene) })],
  ['messages.remove', messages.remove, onMessage],
  ['messages.react', messages.react, (scene) => ({ ...onMessage(scene), emoji: '👍' })],
  ['messages.reactions', messages.reactions, ({ room, message }) => ({ room, messageIds: message })],
  ['messages.pin', messages.pin, (scene) => ({ ...onMessage(scene), pinned: true })],
  ['messages.pins', messages.pins, inRoom],
  ['messages.read', messages.read, ({ room }) => ({ room, seq: 1 })],
  ['messages.typing', messages.typing, ({ room }) => ({ room, on: true })],
  ['polls.list', polls.list, inRoom],
  ['polls.voters', polls.voters, onPoll],
  ['polls.create', polls.create, ({ room }) => ({ room, ...drinks })],
  ['polls.update', polls.update, (scene) => ({ ...onPoll(scene), isClosed: true })],
  ['polls.remove', polls.remove, onPoll],
  ['polls.vote', polls.vote, (scene) => ({ ...onPoll(scene), optionIndex: 0 })],
  ['rooms.get', rooms.get, inRoom],
  ['rooms.update', rooms.update, ({ room }) => ({ room, name: 'Another' })],
  ['rooms.archive', rooms.archive, inRoom],
  ['rooms.leave', rooms.leave, inRoom],
  ['rooms.members', rooms.members, inRoom],
  ['rooms.setRole', rooms.setRole, (scene) => ({ ...target(scene), role: 'moderator' })],
  ['rooms.kick', rooms.kick, target],
  ['moderation.act', moderation.act, ({ message }) => ({ room: alpha, action: 'delete', message_id: message })],
  ['moderation.rules', moderation.rules, ({ room }) => ({ chatType: room.type, chatId: room.id })],
  ['moderation.bans', moderation.bans, ({ room }) => ({ chatType: room.type, chatId: room.id })],
  ['moderation.simulate', moderation.simulate, ({ room }) => ({ room, word: 'hello' })],
]

const doorsOf = ({ http, socket }: Operation) => over.filter((door) => (door === 'rest' ? http : socket))
const answering = (code: ErrorCode) => asked.filter(([, operation]) => errorCodesOf(operation).own.includes(code))

describe.each(Object.entries(scenes))('%s', (code, set) => {
  let scene: Scene
  beforeAll(async () => {
    scene = await set()
  })

  test.each(answering(code as ErrorCode))('is what %s answers, over each of its doors', async (_, operation, input) => {
    for (const door of doorsOf(operation))
      expect(await scene.who.refused(door, operation, input(scene)), door).toMatchObject({ code })
  })
})

const settings = (rules: object) => ({ action: 'rules', patch: { rules } }) as const
const word = (word_action: 'block' | 'mute') => ({ action: 'word_add', patch: { word: 'plum', word_action } }) as const
const rulings: readonly (readonly [ErrorCode, Omit<Act, 'room'>, string])[] = [
  ['READ_ONLY', settings({ read_only: true }), 'hello'],
  ['CONTENT_NOT_ALLOWED', settings({ polls_allowed: 'disabled' }), '[POLL]hello'],
  ['BLOCKED_WORD', word('block'), 'a plum'],
  ['MESSAGE_REJECTED', word('mute'), 'a plum'],
  ['LINKS_NOT_ALLOWED', settings({ links_allowed: 'disabled' }), 'https://example.com'],
  ['MESSAGE_TOO_LONG', settings({ max_message_length: 5 }), 'too long'],
  ['SLOW_MODE', settings({ slow_mode_seconds: 600 }), 'hello'],
]

test.each(rulings)('%s is told alike by sending, editing and asking', async (code, act, said) => {
  const scene = await lived(await groupOf(owner, bystander), bystander)
  const { room, who, message: id } = scene
  await moderates(owner, { room, ...act })
  const judged: readonly (readonly [Operation, Body])[] = [
    [messages.send, { room, text: said }],
    [messages.edit, { room, id, text: said }],
    [polls.create, { room, ...drinks, question: said.replace('[POLL]', '') }],
  ]
  for (const [operation, input] of judged.filter(([{ errors }]) => errors?.includes(code)))
    for (const door of doorsOf(operation))
      expect(await who.refused(door, operation, input), `${operation.summary} ${door}`).toMatchObject({ code })
})

test('a word of a room one cannot see is not there, nor is the room', async () => {
  const { who, room } = await lived(await groupOf(owner), owner)
  await moderates(owner, { room, ...word('block') })
  const { words } = await who.does('rest', moderation.words, { scope: 'room', chatType: 'group', chatId: room.id })
  for (const { id } of words)
    expect(await outsider.refused('rest', moderation.removeWord, { id })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
  expect(words).toHaveLength(1)
})

test('room:leave refuses a room that does not exist', async () => {
  const room = { type: 'channel', id: 'nowhere' } as const
  expect(await owner.refused('socket', messages.leave, { room })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
})

test('outside the demo nobody becomes a moderator by asking', async () => {
  expect(await owner.does('rest', status.get, {})).toMatchObject({
    demo: false,
    sign_in: ['wallet', 'solana', 'passkey', 'email'],
    phone: true,
    phone_mailbox: '/dev/mail',
  })
  expect(await owner.refused('rest', status.becomeModerator, {})).toMatchObject({ code: 'NOT_FOUND' })
})
