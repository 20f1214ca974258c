// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RoomEvents } from '#server/log/model'
import { moderation } from '#shared/api/moderation/moderation'
import type { RulesPatch } from '#shared/api/moderation/verdict'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import type { Operation } from '#shared/kit/contract'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import {
  channelOf,
  type Door,
  groupOf,
  listenTo,
  moderates,
  over,
  type Person,
  people,
  sealed,
} from '#test/support/people'
import { storeFileOn } from '#test/support/stored-files'
import { wallet } from '#test/support/wallet'

const storage = 'https://media.example'
let server: Booted
let root: Person
let owner: Person
let member: Person
let other: Person
beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('root').address, STORAGE_URL: storage } })
  ;[root, owner, member, other] = await people(server, 'root', 'owner', 'member', 'other')
  for (const file of ['1.png', 'a.pdf', 'turnip', 'a_1.png'])
    await storeFileOn(server, member.account, own(file).slice(storage.length + 1), new Uint8Array(40))
})
afterAll(() => server.close())

const settle = (room: RoomRef, rules: RulesPatch) => moderates(owner, { room, action: 'rules', patch: { rules } })
const block = (room: RoomRef | null, word: string, word_action: 'block' | 'mute' | 'flag' = 'block') =>
  moderates(room === null ? root : owner, { room, action: 'word_add', patch: { word, word_action } })
const own = (file: string) => `${storage}/media/chat/${member.account.toLowerCase()}/${file}`
const count = async (room: RoomRef) => (await member.does('rest', messages.history, { room })).messages.length

/** The verdict over both doors, in a send and in a check: the same everywhere, and nothing stored. */
async function refusedEverywhere(room: RoomRef, draft: object) {
  const before = await count(room)
  const input = { room, text: 'hi', ...draft } as never
  const answers = await Promise.all(over.map((door) => member.refused(door, messages.send, input)))
  const checks = await Promise.all(over.map((door) => member.does(door, messages.check, input)))
  const verdicts = [...answers, ...checks].map(({ verdict }) => JSON.stringify(verdict))
  expect(new Set(verdicts).size).toBe(1)
  expect(await count(room)).toBe(before)
  const [answer] = answers
  if (!answer) throw new Error('No door')
  return answer
}

describe('M01: attachments pass the verdict', () => {
  const png = 'https://evil.example/a.png'
  const file = 'https://files.example/plan'
  test.each<[string, RulesPatch, object, string]>([
    ['an image by its type', { photos_allowed: 'disabled' }, { url: file, mime: 'image/png' }, 'CONTENT_NOT_ALLOWED'],
    ['an image by its address', { photos_allowed: 'disabled' }, { url: png }, 'CONTENT_NOT_ALLOWED'],
    [
      'an image that claims to be a file',
      { photos_allowed: 'disabled' },
      { url: png, mime: 'application/pdf' },
      'CONTENT_NOT_ALLOWED',
    ],
    ['an image by a query', { photos_allowed: 'disabled' }, { url: `${png}?x=1` }, 'CONTENT_NOT_ALLOWED'],
    [
      'an image in percent signs',
      { photos_allowed: 'disabled' },
      { url: 'https://e.example/a%2epng' },
      'CONTENT_NOT_ALLOWED',
    ],
    ['an image by its name', { photos_allowed: 'disabled' }, { url: file, name: 'Holiday.JPG' }, 'CONTENT_NOT_ALLOWED'],
    ['a film', { photos_allowed: 'mods_only' }, { url: file, mime: 'Video/MP4' }, 'CONTENT_NOT_ALLOWED'],
    ['a GIF', { gifs_allowed: 'disabled' }, { url: file, mime: 'image/gif' }, 'CONTENT_NOT_ALLOWED'],
    ['a voice message', { voice_allowed: 'disabled' }, { url: file, mime: 'audio/ogg' }, 'CONTENT_NOT_ALLOWED'],
    ['an image on another host', {}, { url: png, mime: 'image/png' }, 'INVALID_PARAMETER'],
    ['an image of no type on another host', {}, { url: png }, 'INVALID_PARAMETER'],
    ['an image of somebody else', {}, { url: `${storage}/encrypted/0x${'b'.repeat(40)}/a.png` }, 'INVALID_PARAMETER'],
    ['a file elsewhere', {}, { url: file }, 'INVALID_PARAMETER'],
    [
      'a file elsewhere by another name, type and size',
      {},
      { url: 'https://evil.example/x.exe', name: 'a.txt', mime: 'text/plain', size: 1 },
      'INVALID_PARAMETER',
    ],
    [
      'a link in its name',
      { links_allowed: 'mods_only' },
      { url: 'OWN/a.pdf', name: 'www.evil.test' },
      'LINKS_NOT_ALLOWED',
    ],
    ['a blocked word in its name', {}, { url: 'OWN/a.pdf', name: 'my turnip' }, 'BLOCKED_WORD'],
    ['a blocked word in its type', {}, { url: 'OWN/a.pdf', mime: 'turnip' }, 'BLOCKED_WORD'],
    ['a blocked word in its address', {}, { url: 'OWN/turnip' }, 'BLOCKED_WORD'],
    ['a silent word', {}, { url: 'OWN/a.pdf', name: 'parsnip' }, 'MESSAGE_REJECTED'],
    [
      'a name beyond the limit',
      { max_message_length: 20 },
      { url: 'OWN/a.pdf', name: 'n'.repeat(19) },
      'MESSAGE_TOO_LONG',
    ],
  ])('%s', async (_title, rules, attachment, code) => {
    const room = await channelOf(owner, member)
    await block(room, 'turnip')
    await block(room, 'parsnip', 'mute')
    if (Object.keys(rules).length > 0) await settle(room, rules)
    const attachments = [JSON.parse(JSON.stringify(attachment).replace('OWN', own('k').slice(0, -2)))]
    expect(await refusedEverywhere(room, { attachments })).toMatchObject({ code })
    const hidden = [{ url: own('1.png') }, ...attachments]
    expect(await refusedEverywhere(room, { attachments: hidden })).toMatchObject({ code })
    const alias = await member.rest(`POST /api/channels/${room.id}/messages`, { content: 'hi', attachments })
    expect(alias.body.code).toBe(code)
  })

  test('the finding as it was told: no links, no photos and a blocked word', async () => {
    const room = await channelOf(owner, member)
    await block(room, 'turnip')
    await settle(room, { links_allowed: 'disabled', photos_allowed: 'disabled' })
    const attachments = [{ url: 'https://evil.test/turnip', name: 'turnip', mime: 'image/png' }]
    expect(await refusedEverywhere(room, { attachments })).toMatchObject({ code: 'CONTENT_NOT_ALLOWED' })
  })

  test('uploads of the sender are stored as they are, also where links are closed', async () => {
    const room = await channelOf(owner, member)
    await settle(room, { links_allowed: 'disabled' })
    const attachments = [
      { url: own('a_1.png'), name: 'cat.png', mime: 'image/png', size: 12 },
      { url: own('a.pdf'), name: 'plan.pdf', mime: 'application/pdf' },
    ]
    for (const door of over) {
      const { message } = await member.does(door, messages.send, { room, text: 'two things', attachments })
      expect(message.attachments).toEqual(attachments)
    }
  })

  test('an edit is judged with what stays attached', async () => {
    const room = await channelOf(owner, member)
    const attachments = [{ url: own('turnip') }]
    const { message } = await member.does('socket', messages.send, { room, text: 'see', attachments })
    await block(room, 'turnip')
    const edited = { room, id: message.id, text: 'look' }
    for (const door of over)
      expect(await member.refused(door, messages.edit, edited)).toMatchObject({ code: 'BLOCKED_WORD' })
  })

  test('a dry run counts them', async () => {
    const room = await channelOf(owner, member)
    const attachments = [{ url: own('turnip') }]
    await member.does('socket', messages.send, { room, text: 'see', attachments })
    const question = { room, question: 'Which?', options: ['a turnip', 'none'] }
    await owner.does('socket', polls.create, question)
    expect(await owner.does('rest', moderation.simulate, { room, word: 'turnip' } as never)).toMatchObject({ hits: 2 })
  })

  test('a dry run does not count those from elsewhere, which older versions took', async () => {
    const room = await channelOf(owner, member)
    const attachments = [{ url: own('1.png') }]
    const { message } = await member.does('socket', messages.send, { room, text: 'see', attachments })
    await RoomEvents.updateOne({ _id: message.id }, { $set: { 'body.attachments': [{ url: file }] } })
    const older = await RoomEvents.findOne({ _id: message.id }).lean()
    expect(older?.body).toMatchObject({ attachments: [{ url: file }] })
    expect(await owner.does('rest', moderation.simulate, { room, word: 'turnip' } as never)).toMatchObject({
      tested: 1,
      hits: 0,
    })
  })

  test('beside the ciphertext of a direct message they are refused', async () => {
    const room = dmOf(member.account, other.account)
    const draft = { text: sealed(), attachments: [{ url: own('a.enc'), name: 'a secret name' }] }
    for (const door of over)
      expect(await member.refused(door, messages.send, { room, ...draft })).toMatchObject({
        code: 'INVALID_PARAMETER',
        status: 400,
        verdict: { step: 'content_type' },
      })
    const { verdict } = await member.does('rest', messages.check, { room, ...draft })
    expect(verdict).toMatchObject({ ok: false, code: 'INVALID_PARAMETER' })
  })
})

describe('M01: whatever else a person puts into a room passes the verdict', () => {
  interface Writing {
    operation: Operation
    input(room: RoomRef & { id: string }): Promise<object>
    /** Fields that hold no words: what they may say is fixed, or names what is there already. */
    names: readonly string[]
    by?: () => Person
  }
  const place = [
    'room.id',
    'idempotency_key',
    'client_msg_id',
    'client_action_id',
    'api_key',
    'id',
    'senderAddress',
    'creatorAddress',
    'userAddress',
  ]
  const replies = ['reply_to', 'replyToId', 'reply_to_id']
  const said = async (room: RoomRef) => (await member.does('socket', messages.send, { room, text: 'hello' })).message
  const asked = async (room: RoomRef) =>
    (await owner.does('socket', polls.create, { room, question: 'Tea?', options: ['Yes', 'No'] })).poll
  const draft = async (room: RoomRef) => ({
    room,
    text: 'hello',
    attachments: [{ url: own('1.png') }],
    mentions: [{ kind: 'user', id: 'x', start: 0, len: 1 }],
  })

  const ofAttendance = ['EventName', 'ImageUrl', 'CollectionName', 'CollectionImageUrl'].flatMap((field) => [
    `attendance${field}`,
    `poap${field}`,
  ])
  const writings: [string, Writing][] = [
    ['send', { operation: messages.send, input: draft, names: [...replies, 'blobs.0', 'attachments.0.url'] }],
    [
      'edit',
      {
        operation: messages.edit,
        input: async (room) => {
          const { attachments: _, ...rest } = await draft(room)
          return { ...rest, id: (await said(room)).id }
        },
        names: ['blobs.0'],
      },
    ],
    ['react', { operation: messages.react, input: async (room) => ({ room, id: (await said(room)).id }), names: [] }],
    ['remove', { operation: messages.remove, input: async (room) => ({ room, id: (await said(room)).id }), names: [] }],
    [
      'create a poll',
      {
        operation: polls.create,
        input: async (room) => ({ room, question: 'Tea?', options: ['Yes', 'No'] }),
        names: [],
        by: () => owner,
      },
    ],
    [
      'change a poll',
      {
        operation: polls.update,
        input: async (room) => ({ room, pollId: (await asked(room)).id, options: ['Yes', 'No'] }),
        names: ['pollId'],
        by: () => owner,
      },
    ],
    // The emoji of a room is one emoji, so that no word fits there.
    [
      'change a room',
      { operation: rooms.update, input: async (room) => ({ room }), names: ['emoji'], by: () => owner },
    ],
    [
      'create a channel',
      // Those of attendance are left out of every other channel: `attendance-channels.test.ts` has them.
      {
        operation: rooms.createChannel,
        input: async () => ({ name: unique() }),
        names: [...ofAttendance, 'ownerAddress', 'emoji'],
      },
    ],
    [
      'create a group',
      { operation: rooms.createGroup, input: async () => ({ name: 'We' }), names: ['memberAddresses.0', 'emoji'] },
    ],
  ]
  const unique = () => `A name ${crypto.randomUUID()}`
  const fits: Record<string, (word: string) => string> = {
    icon_url: (word) => `https://files.example/${word}`,
  }
  const doorsOf = ({ http, socket }: Operation): Door[] => [
    ...(http ? (['rest'] as const) : []),
    ...(socket ? (['socket'] as const) : []),
  ]

  test.each(writings)('in every field that holds text: %s', async (_title, { operation, input, names, by }) => {
    const room = await channelOf(owner, member)
    const word = `zork${unique()
      .replace(/[^a-f]/g, '')
      .slice(3, 10)}q`
    const quiet = `mute${word}`
    await block(null, word)
    await block(null, quiet, 'mute')
    const who = by?.() ?? member
    const fields = leavesOf(z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' })).filter(
      (path) => !place.includes(path) && !names.includes(path),
    )
    expect(fields.length).toBeGreaterThan(0)
    for (const path of fields)
      for (const door of doorsOf(operation))
        for (const [text, code] of [
          [word, 'BLOCKED_WORD'],
          [quiet, 'MESSAGE_REJECTED'],
        ] as const) {
          const whole = withText(await input(room), path, fits[path]?.(text) ?? text)
          const refusal = await who.refused(door, operation, whole as never)
          expect({ path, door, code: refusal.code }).toEqual({ path, door, code })
          expect(JSON.stringify(refusal)).not.toContain(text)
        }
  })

  const links: [string, (room: RoomRef) => Promise<[Operation, object]>][] = [
    ['an answer of a poll', async (room) => [polls.create, { room, question: 'Which?', options: ['a', 'evil.com'] }]],
    ['a question', async (room) => [polls.create, { room, question: 'See evil.com?', options: ['a', 'b'] }]],
    ['a reaction', async (room) => [messages.react, { room, id: (await said(room)).id, emoji: 'evil[dot]com' }]],
    ['a reason', async (room) => [messages.remove, { room, id: (await said(room)).id, reason: 'see evil.com' }]],
    [
      'a changed question',
      async (room) => [polls.update, { room, pollId: (await asked(room)).id, question: 'evil.com?' }],
    ],
  ]
  test.each(links)('%s is no way around closed links', async (_title, make) => {
    const room = await channelOf(owner, member)
    await settle(room, { links_allowed: 'disabled' })
    const [operation, input] = await make(room)
    const who = operation === polls.create || operation === polls.update ? owner : member
    for (const door of doorsOf(operation))
      expect((await who.refused(door, operation, input as never)).code).toBe('LINKS_NOT_ALLOWED')
  })

  test('a changed question is held to the rules of a message; closing a poll says nothing', async () => {
    const room = await channelOf(owner, member)
    const poll = await asked(room)
    const change = { room, pollId: poll.id, question: 'What is it that you would like to drink?' }
    await settle(room, { max_message_length: 20 })
    expect((await owner.refused('rest', polls.update, change)).code).toBe('MESSAGE_TOO_LONG')
    await settle(room, { max_message_length: 0, polls_allowed: 'disabled' })
    expect((await owner.refused('rest', polls.update, change)).code).toBe('CONTENT_NOT_ALLOWED')
    const closed = await owner.does('rest', polls.update, { room, pollId: poll.id, isClosed: true })
    expect(closed.poll.is_closed).toBe(true)
  })

  test('the muted and those who may not write here change no question', async () => {
    const group = await groupOf(owner, member)
    const { poll } = await member.does('socket', polls.create, { room: group, question: 'Tea?', options: ['a', 'b'] })
    const change = { room: group, pollId: poll.id, question: 'Coffee?' }
    await settle(group, { read_only: true })
    expect((await member.refused('rest', polls.update, change)).code).toBe('READ_ONLY')
    await settle(group, { read_only: false })
    await moderates(owner, { room: group, action: 'mute', target: member.account, duration: '1h' })
    expect((await member.refused('rest', polls.update, change)).code).toBe('MUTED')
    expect((await owner.does('rest', polls.update, change)).poll.question).toBe('Coffee?')
  })

  test('a word is not spelled over several answers, and the answers count to the length', async () => {
    const room = await channelOf(owner, member)
    await block(room, 'zork')
    const spelled = { room, question: 'Read down', options: ['z', 'o', 'r', 'k'] }
    expect((await owner.refused('socket', polls.create, spelled)).code).toBe('BLOCKED_WORD')
    await settle(room, { max_message_length: 30 })
    const long = { room, question: 'Which?', options: ['a'.repeat(12), 'b'.repeat(12)] }
    expect((await owner.refused('socket', polls.create, long)).code).toBe('MESSAGE_TOO_LONG')
  })

  test('a reply quotes nothing that could not be sent now', async () => {
    const room = await channelOf(owner, member)
    const { id } = (await member.does('socket', messages.send, { room, text: 'a turnip for all' })).message
    const quoting = { room, text: 'indeed', reply_to: id }
    const before = await member.does('socket', messages.send, quoting)
    expect(before.message.reply_to?.content).toBe('a turnip for all')
    await block(room, 'turnip')
    for (const door of over)
      expect((await member.does(door, messages.send, quoting)).message).toMatchObject({
        reply_to_id: id,
        reply_to: { content: '' },
      })
  })

  test.each(over)('N26: a reply quotes what its author edited as it is now, over %s', async (door) => {
    const room = await channelOf(owner, member)
    const { id } = (await member.does(door, messages.send, { room, text: 'my number is 555' })).message
    const line = await listenTo(owner, room)
    const answer = (await owner.does(door, messages.send, { room, text: 'noted', reply_to: id })).message
    expect(answer.reply_to?.content).toBe('my number is 555')
    const text = `nothing ${'y'.repeat(300)}`
    await member.does(door, messages.edit, { room, id, text })
    const now = { reply_to_id: id, reply_to: { content: text.slice(0, 200) } }
    const again = await owner.does(door, messages.edit, { room, id: answer.id, text: 'noted, then' })
    expect(again.message).toMatchObject(now)
    const told = await line.follows(
      room,
      ({ data }) => 'message' in data && data.message?.version === 2 && data.message.id === answer.id,
    )
    expect(told.data).toMatchObject({ message: now })
    await owner.does(door, messages.pin, { room, id: answer.id, pinned: true })
    const { messages: read } = await member.does(door, messages.history, { room })
    expect(read.find((message) => message.id === answer.id)).toMatchObject(now)
    const { pinnedMessages } = await member.does('rest', messages.pins, { room })
    expect(pinnedMessages).toMatchObject([now])
    const pages = [
      await member.does(door, messages.sync, { room }),
      await member.does(door, messages.search, { room, query: 'noted' }),
    ]
    for (const page of pages) expect(JSON.stringify(page)).not.toContain('my number')
  })

  test('what was marked to be looked at is so wherever the word stands', async () => {
    const room = await channelOf(owner, member)
    await block(room, 'radish', 'flag')
    const { message } = await member.does('socket', polls.create, {
      room,
      question: 'Which?',
      options: ['radish', 'no'],
    })
    const { queue } = await owner.does('socket', moderation.queue, { scope: 'room', room })
    expect(JSON.stringify(queue)).toContain(message.id)
  })
})

type Schema = { [key: string]: unknown }
/** Where an input holds text of its sender's choice, as paths into it. */
function leavesOf(schema: unknown, path = ''): string[] {
  const { type, properties, items, anyOf, oneOf, allOf, enum: choices, const: only, format } = schema as Schema
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const inner = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []))
  const found = inner.flatMap((one) => leavesOf(one, path))
  if (typeof properties === 'object' && properties !== null)
    for (const [name, its] of Object.entries(properties)) found.push(...leavesOf(its, at(name)))
  if (items) found.push(...leavesOf(items, at('0')))
  if (type === 'string' && !choices && only === undefined && format !== 'date-time') found.push(path)
  return [...new Set(found)]
}

function withText(input: object, path: string, text: string): object {
  const whole = structuredClone(input) as Schema
  const steps = path.split('.')
  const last = steps.pop() ?? ''
  const holder = steps.reduce((one, step) => one[step] as Schema, whole)
  if (path === 'content') delete whole.text
  holder[last] = text
  return whole
}
