// Modes: embedded, two-nodes, two-nodes-redis
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Reactions } from '#server/domains/rooms/room-state/model'
import { RoomEvents } from '#server/log/model'
import { social } from '#shared/api/moderation/social'
import type { RulesPatch } from '#shared/api/moderation/verdict'
import { accounts } from '#shared/api/people/accounts'
import type { Message } from '#shared/api/rooms/message'
import { messages } from '#shared/api/rooms/messages'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import {
  alpha,
  channelOf,
  groupOf,
  moderates,
  over,
  type Person,
  people,
  person,
  say,
  sealed,
} from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let root: Person
let owner: Person
let member: Person
let other: Person
let outsider: Person
let crowd: Person[]
let general: RoomRef & { id: string }
const nowhere = { type: 'channel', id: '018f0000-0000-7000-8000-000000000000' } as const
const noMessage = '018f0000-0000-7000-8000-000000000001'

beforeAll(async () => {
  server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('root').address } })
  const cast = await people(server, 'root', 'owner', 'member', 'other', 'outsider', 'c1', 'c2', 'c3', 'c4', 'c5')
  ;[root, owner, member, other, outsider] = cast
  crowd = [member, other, owner, ...cast.slice(5)]
  general = await channelOf(owner, ...crowd.filter((one) => one !== owner))
})
afterAll(() => server.close())

const settle = (room: RoomRef, rules: RulesPatch) => moderates(owner, { room, action: 'rules', patch: { rules } })
const page = async (who: Person, room: RoomRef, query: object = {}) =>
  (await who.does('rest', messages.history, { room, limit: 100, ...query })).messages

describe.each(over)('a message sent over %s', (door) => {
  solo('is stored as written, has its place in the order, and answers an accepting verdict', async () => {
    const before = await member.does(door, messages.history, { room: general, limit: 1 })
    const { message, verdict, duplicate } = await member.does(door, messages.send, {
      room: general,
      text: 'Grüße, *world* <b>as it is</b>',
      client_msg_id: `as-written-${door}`,
    })
    expect(message).toMatchObject({
      room: general,
      channel_id: general.id,
      content: 'Grüße, *world* <b>as it is</b>',
      message_type: 'text',
      version: 1,
      n: (before.messages[0]?.n ?? 0) + 1,
      client_msg_id: `as-written-${door}`,
      sender_address: member.account,
      sender: { id: member.account, role: 'member', isAgent: false },
      reply_to: null,
      reactions: {},
      is_pinned: false,
      is_edited: false,
      is_deleted: false,
    })
    expect(verdict).toEqual({
      ok: true,
      step: null,
      code: null,
      status: 200,
      text: null,
      rule: null,
      until: null,
      judged_seq: message.seq - 1,
    })
    expect(duplicate).toBeUndefined()
    expect((await page(other, general)).at(-1)).toEqual(message)
  })

  solo('may spell its fields in every documented way, but not in two that differ', async () => {
    const room = general
    const first = await member.does(door, messages.send, { room, content: 'first', message_type: 'text' })
    const reply = await member.does(door, messages.send, { room, text: 'second', replyToId: first.message.id })
    const quote = { id: first.message.id, sender_address: member.account, content: 'first', message_type: 'text' }
    expect(reply.message).toMatchObject({ reply_to_id: first.message.id, reply_to: quote })
    const twice = await member.refused(door, messages.send, { room, text: 'one', content: 'two' })
    expect(twice).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 })
  })

  solo.each([
    ['no text', {}],
    ['nothing to see', { text: ' \u200b\u2060 ' }],
    ['more than 10,000 characters', { text: 'a'.repeat(10_001) }],
    ['half a character', { text: 'a\ud800' }],
    ['a control character', { text: 'a\u0000b' }],
    ['a type that is sent by nobody', { text: 'x', type: 'system' }],
    ['a mention outside its text', { text: 'hi', mentions: [{ kind: 'user', id: 'x', start: 0, len: 9 }] }],
    ['a reply to what is not here', { text: 'x', reply_to: noMessage }],
    ['an empty key', { text: 'x', client_msg_id: '' }],
  ])('is refused with %s, and nothing is stored', async (_title, input) => {
    const total = (await page(member, general)).at(-1)?.n
    const refused = await member.refused(door, messages.send, { room: general, ...input } as never)
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 })
    expect((await page(member, general)).at(-1)?.n).toBe(total)
  })

  solo('needs a room that is there, membership, and the name of its sender', async () => {
    const room = general
    expect((await member.refused(door, messages.send, { room: nowhere, text: 'x1' })).code).toBe('ROOM_NOT_FOUND')
    const stranger = await outsider.refused(door, messages.send, { room, text: 'x1' })
    expect(stranger).toMatchObject({ code: 'NOT_A_MEMBER', status: 403, verdict: { step: 'membership' } })
    const foreign = await member.refused(door, messages.send, { room, text: 'x1', senderAddress: owner.account })
    expect(foreign.code).toBe('FORBIDDEN')
  })
})

solo('M35: the documented paths answer an edit with the row at top level as well', async () => {
  const room = await channelOf(owner, member)
  const { id } = await say(member, room, 'before')
  const { body } = await member.rest(`PATCH /api/channels/${room.id}/messages/${id}`, { content: 'after' })
  expect(body).toMatchObject({ id, content: 'after', is_edited: true, message: { id, content: 'after' } })
})

describe('one verdict', () => {
  const refusals: [string, RulesPatch, object, string, number, string][] = [
    ['READ_ONLY', { read_only: true }, { text: 'x' }, 'read_only', 403, 'This room is read-only'],
    [
      'CONTENT_NOT_ALLOWED',
      { photos_allowed: 'disabled' },
      { type: 'photo', text: '[IMAGE]http://a.b/c' },
      'content_type',
      403,
      'Photos are not allowed',
    ],
    [
      'INVALID_PARAMETER',
      {},
      { type: 'photo', text: '[IMAGE]http://a.b/c' },
      'content_type',
      400,
      'Media must be uploaded here by its sender',
    ],
    [
      'LINKS_NOT_ALLOWED',
      { links_allowed: 'mods_only' },
      { text: 'see https://a.example' },
      'links',
      403,
      'Links are not allowed',
    ],
    [
      'MESSAGE_TOO_LONG',
      { max_message_length: 5 },
      { text: 'too long' },
      'length',
      400,
      'Message exceeds 5 characters',
    ],
  ]

  solo.each(refusals)(
    '%s has the same bytes over both doors, in a send and in a check',
    async (code, rules, draft, step, status, text) => {
      const room = await channelOf(owner, member)
      if (Object.keys(rules).length > 0) await settle(room, rules)
      const answers = await Promise.all(over.map((door) => member.refused(door, messages.send, { room, ...draft })))
      for (const answer of answers)
        expect(answer).toMatchObject({ code, status, message: text, verdict: { ok: false, step, code, status, text } })
      const checks = await Promise.all(over.map((door) => member.does(door, messages.check, { room, ...draft })))
      const bytes = [...answers, ...checks].map(({ verdict }) => JSON.stringify(verdict))
      expect(new Set(bytes).size).toBe(1)
      const alias = await member.rest(`POST /api/channels/${room.id}/messages`, draft)
      expect(alias).toMatchObject({ status, body: { error: text, code } })
      expect(JSON.stringify(alias.body.verdict)).toBe(bytes[0])
      expect(await page(member, room)).toEqual([])
    },
  )

  solo(
    'of words: a blocked one is named to nobody, a silent one answers without a reason, a flagged one passes',
    async () => {
      const room = await channelOf(owner, member)
      for (const [word, word_action] of [
        ['turnip', 'block'],
        ['parsnip', 'mute'],
        ['radish', 'flag'],
      ] as const)
        await moderates(owner, { room, action: 'word_add', patch: { word, word_action } })
      for (const door of over) {
        const blocked = await member.refused(door, messages.send, { room, text: 'a TURNIP here' })
        expect(blocked).toMatchObject({
          code: 'BLOCKED_WORD',
          status: 403,
          verdict: { step: 'blocked_words', rule: { kind: 'word', scope: 'room' } },
        })
        expect(JSON.stringify(blocked).toLowerCase()).not.toContain('turnip')
        expect(await member.refused(door, messages.send, { room, text: 'a parsnip' })).toMatchObject({
          code: 'MESSAGE_REJECTED',
          message: 'Your message could not be sent.',
          verdict: { step: null, rule: null },
        })
        expect((await member.does(door, messages.send, { room, text: 'a radish' })).message.content).toBe('a radish')
      }
    },
  )

  solo('of people: the muted and the banned are told until when; who is suspended is told first of that', async () => {
    const room = await channelOf(owner, member, other)
    await moderates(owner, { room, action: 'mute', target: member.account, duration: '1h' })
    await moderates(owner, { room, action: 'ban', target: other.account, duration: '1h' })
    const { message } = await owner.does('rest', messages.send, { room, text: 'quiet now' })
    for (const door of over) {
      const text = 'may I?'
      expect(await member.refused(door, messages.send, { room, text })).toMatchObject({
        code: 'MUTED',
        verdict: { step: 'mute', until: expect.stringMatching(/Z$/) },
      })
      const { id } = message
      expect((await member.refused(door, messages.react, { room, id, emoji: '👍' })).code).toBe('MUTED')
      expect((await member.refused(door, messages.typing, { room, on: true })).code).toBe('MUTED')
      expect(await other.refused(door, messages.send, { room, text })).toMatchObject({
        code: 'BANNED',
        verdict: { step: 'ban', until: expect.stringMatching(/Z$/) },
      })
    }
    const reads = await Promise.all([
      other.refused('socket', messages.join, { room }),
      other.refused('socket', messages.sync, { room }),
      other.refused('rest', messages.sync, { room }),
      other.refused('rest', messages.history, { room }),
      other.refused('socket', messages.search, { room, query: 'quiet' }),
      other.refused('rest', messages.pins, { room }),
      other.refused('rest', messages.reactions, { room, messageIds: message.id }),
      other.refused('socket', messages.read, { room, seq: 1 }),
      other.refused('rest', messages.typing, { room, on: true }),
      other.refused('rest', messages.edit, { room, id: message.id, text: 'x1' }),
      other.refused('rest', messages.remove, { room, id: message.id }),
      other.refused('socket', messages.react, { room, id: message.id, emoji: '👍' }),
      other.refused('socket', messages.pin, { room, id: message.id, pinned: true }),
    ])
    for (const refused of reads) expect(refused).toMatchObject({ code: 'BANNED', status: 403 })
    await root.does('rest', accounts.suspend, { userAddress: other.account, ban: true })
    try {
      for (const door of over)
        expect(await other.refused(door, messages.send, { room, text: 'x1' })).toMatchObject({ code: 'SUSPENDED' })
      await root.does('rest', accounts.suspend, { userAddress: member.account, ban: true })
      const mine = { room: general, id: (await say(owner, general, 'of others')).id }
      expect((await member.refused('rest', messages.edit, { ...mine, text: 'x1' })).code).toBe('SUSPENDED')
      expect((await member.refused('rest', messages.remove, mine)).code).toBe('SUSPENDED')
      expect((await member.refused('rest', messages.react, { ...mine, emoji: '👍' })).code).toBe('SUSPENDED')
      expect((await member.refused('rest', messages.pin, { ...mine, pinned: true })).code).toBe('SUSPENDED')
    } finally {
      for (const { account } of [other, member])
        await root.does('rest', accounts.suspend, { userAddress: account, ban: false })
    }
  })

  solo('a check stores nothing and starts no slow mode', async () => {
    const room = await channelOf(owner, member)
    await settle(room, { slow_mode_seconds: 60 })
    for (const door of over)
      for (const _ of [1, 2, 3]) {
        const { verdict } = await member.does(door, messages.check, { room, text: 'might I?' })
        expect(verdict.ok).toBe(true)
      }
    expect(await page(member, room)).toEqual([])
    await member.does('rest', messages.send, { room, text: 'now I do' })
    const { verdict, retryAfter } = await member.does('socket', messages.check, { room, text: 'again' })
    expect(verdict).toMatchObject({ ok: false, code: 'SLOW_MODE', step: 'slow_mode' })
    expect(retryAfter).toBeGreaterThan(50)
    expect((await member.refused('rest', messages.check, { room: nowhere, text: 'x1' })).code).toBe('ROOM_NOT_FOUND')
  })
})

describe('slow mode', () => {
  test('lets exactly one of fifty parallel messages through, whatever door and node they come by', async () => {
    const room = await channelOf(owner, member)
    await settle(room, { slow_mode_seconds: 300 })
    const seats = await Promise.all(server.urls.map((url) => person(server, 'member', url)))
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => {
        const seat = seats[at % seats.length] ?? member
        const input = { room, text: `wave ${at}` }
        return at % 2
          ? seat.ask('message:send', input)
          : seat.rest(`POST /api/channels/${room.id}/messages`, { content: input.text })
      }),
    )
    const passed = answers.filter((answer) => ('ok' in answer ? answer.ok : answer.status === 200))
    expect(passed).toHaveLength(1)
    expect(await page(member, room)).toHaveLength(1)
    const refused = await member.refused('rest', messages.send, { room, text: 'later' })
    expect(refused).toMatchObject({ code: 'SLOW_MODE', status: 429, retryAfter: expect.any(Number) })
    expect(refused.verdict).not.toHaveProperty('retryAfter')
    const answer = await member.rest(`POST /api/channels/${room.id}/messages`, { content: 'later' })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(200)
  })

  solo('N89: the rate that a refusal tells is that of what refused', async () => {
    const room = await channelOf(owner, member)
    await settle(room, { slow_mode_seconds: 60 })
    const send = () => member.rest(`POST /api/channels/${room.id}/messages`, { content: 'again' })
    const told = ({ headers }: Awaited<ReturnType<typeof send>>) =>
      ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))
    expect(Number(told(await send())[1])).toBeGreaterThan(0)
    const refused = await send()
    const [limit, remaining, reset] = told(refused)
    expect([refused.status, limit, remaining]).toEqual([429, null, '0'])
    expect(Math.abs(Number(reset) - Date.now() / 1_000 - Number(refused.headers.get('retry-after')))).toBeLessThan(10)
  })

  solo('tells when the next message may go, and does not hold moderators or repeats', async () => {
    const room = await channelOf(owner, member)
    await settle(room, { slow_mode_seconds: 60 })
    const input = { room, text: 'once', client_msg_id: 'slow-repeat' }
    const first = await member.does('socket', messages.send, input)
    expect(Date.parse(first.next_send_at ?? '')).toBe(Date.parse(first.message.created_at) + 60_000)
    expect(await member.does('rest', messages.send, input)).toMatchObject({ duplicate: true, message: first.message })
    for (const text of ['one', 'two']) await owner.does('socket', messages.send, { room, text })
  })
})

describe('a key of the sender', () => {
  test('stores one message for a repeat over any door', async () => {
    const client_msg_id = randomUUID()
    const first = await member.does('socket', messages.send, { room: general, text: 'the first', client_msg_id })
    const again = await member.does('rest', messages.send, { room: general, text: 'the first', client_msg_id })
    expect(again).toMatchObject({ duplicate: true, message: first.message, verdict: first.verdict })
    const alias = await member.rest(
      `POST /api/channels/${general.id}/messages`,
      { content: 'the first' },
      { 'idempotency-key': client_msg_id },
    )
    expect(alias.body).toMatchObject({ id: first.message.id, content: 'the first', duplicate: true })
    const foreign = await other.does('socket', messages.send, { room: general, text: 'mine', client_msg_id })
    expect(foreign.duplicate).toBeUndefined()
  })

  test('makes one row of fifty sends at once, on every door and node', async () => {
    const client_msg_id = randomUUID()
    const room = await channelOf(owner, member)
    const seats = await Promise.all(server.urls.map((url) => person(server, 'member', url)))
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        (seats[at % seats.length] ?? member).does(at % 2 ? 'socket' : 'rest', messages.send, {
          room,
          text: 'the same each time',
          client_msg_id,
        }),
      ),
    )
    expect(new Set(sent.map(({ message }) => message.id)).size).toBe(1)
    expect(sent.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect(await page(member, room)).toHaveLength(1)
  })

  solo('makes a repeated edit, reaction, pin and removal one act over REST, named by the header alone', async () => {
    const room = await channelOf(owner, member)
    const { id } = await say(owner, room, 'to be touched')
    const twice = async (route: string, body: object) => {
      const headers = { 'idempotency-key': `twice-${randomUUID()}` }
      const answers = [await owner.rest(route, body, headers), await owner.rest(route, body, headers)]
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(answers[1]?.body).toEqual(answers[0]?.body)
    }
    const path = `/api/rooms/channel/${room.id}/messages/${id}`
    await twice(`POST ${path}/reactions`, { emoji: '👍' })
    await twice(`PATCH /api/channels/${room.id}/messages`, { messageId: id, emoji: '🎉' })
    await twice(`PATCH ${path}`, { text: 'edited once' })
    await twice(`PATCH /api/channels/${room.id}/messages/${id}`, { content: 'edited twice' })
    await twice(`POST /api/rooms/channel/${room.id}/pins`, { id, pinned: true })
    expect((await page(member, room))[0]).toMatchObject({ version: 3, reactions: { '👍': 1, '🎉': 1 } })
    await twice(`DELETE ${path}`, {})
  })
})

solo.each(over)('a key that named another act over %s is a conflict, never a fault', async (door) => {
  const room = await channelOf(owner, member)
  const key = `one-key-${door}`
  const { message } = await member.does(door, messages.send, { room, text: 'keyed', client_msg_id: key })
  const about = { room, id: message.id, client_action_id: key }
  const refusals = [
    await member.refused(door, messages.edit, { ...about, text: 'x1' }),
    await member.refused(door, messages.react, { ...about, emoji: '👍' }),
  ]
  for (const refused of refusals) expect(refused).toMatchObject({ code: 'CONFLICT', status: 409 })
  await member.does(door, messages.react, { ...about, emoji: '👍', client_action_id: `${key}-2` })
  const sent = await member.refused(door, messages.send, { room, text: 'again', client_msg_id: `${key}-2` })
  expect(sent).toMatchObject({ code: 'CONFLICT', status: 409 })
})

describe('one order', () => {
  test('eight who write at once are all heard, gapless, in one order for everybody', heavy, async () => {
    const room = await channelOf(owner, ...crowd.filter((one) => one !== owner))
    const each = 25
    await Promise.all(
      crowd.map(async (who, at) => {
        for (let turn = 0; turn < each; turn++)
          await who.does(turn % 5 ? 'socket' : 'rest', messages.send, { room, text: `${at}:${turn}` })
      }),
    )
    const { events } = await member.does('socket', messages.sync, { room, after_seq: 0 })
    const rest = await member.does('rest', messages.sync, { room, after_seq: events.at(-1)?.seq ?? 0 })
    const all = [...events, ...rest.events]
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1))
    const sent = all.flatMap(({ type, data }) => (type === 'message.created' ? [data.message] : []))
    expect(sent.map(({ n }) => n)).toEqual(Array.from({ length: crowd.length * each }, (_, at) => at + 1))
    for (const at of crowd.keys()) {
      const own = sent.filter(({ content }) => content.startsWith(`${at}:`)).map(({ content }) => content)
      expect(own).toEqual(Array.from({ length: each }, (_, turn) => `${at}:${turn}`))
    }
  })

  test('history turns pages by seq and by time, before, after and around, without loss or repeat', async () => {
    const room = await channelOf(owner, member)
    const sent: Message[] = []
    for (let at = 1; at <= 25; at++) {
      sent.push(await say(member, room, `line ${at}`))
      if (at % 5 === 0) await member.does('rest', messages.react, { room, id: sent[0]?.id ?? '', emoji: `${at % 10}️⃣` })
    }
    const ns = async (query: object) => {
      const bySocket = await other.does('socket', messages.history, { room, limit: 10, ...query })
      expect(await other.does('rest', messages.history, { room, limit: 10, ...query })).toEqual(bySocket)
      return { ns: bySocket.messages.map(({ n }) => n), more: bySocket.has_more }
    }
    const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const seq = (n: number) => sent[n - 1]?.seq ?? 0
    expect(await ns({})).toEqual({ ns: from(16, 25), more: true })
    expect(await ns({ before_seq: seq(16) })).toEqual({ ns: from(6, 15), more: true })
    expect(await ns({ before_seq: seq(6) })).toEqual({ ns: from(1, 5), more: false })
    expect(await ns({ after_seq: seq(20) })).toEqual({ ns: from(21, 25), more: false })
    expect(await ns({ after_seq: 0 })).toEqual({ ns: from(1, 10), more: true })
    expect(await ns({ after_seq: seq(15) })).toEqual({ ns: from(16, 25), more: false })
    expect(await ns({ after_seq: seq(3), before_seq: seq(10) })).toEqual({ ns: from(4, 9), more: false })
    const around = (await ns({ around_seq: seq(12) })).ns
    expect(around).toHaveLength(10)
    expect(around).toContain(12)
    const at = (n: number) => sent[n - 1]?.created_at ?? ''
    const before = (await ns({ before: at(10) })).ns
    expect(before.every((n) => at(n) < at(10))).toBe(true)
    expect(before.at(-1)).toBe(sent.filter(({ created_at }) => created_at < at(10)).length)
    const after = (await ns({ after: at(10) })).ns
    expect(after[0]).toBe(sent.filter(({ created_at }) => created_at < at(10)).length + 1)
    const aliased = await other.rest(`GET /api/channels/${room.id}/messages?since=${at(10)}&limit=10`)
    expect((aliased.body.messages as { n: number }[]).map(({ n }) => n)).toEqual(after)
    const everything = await other.rest(`GET /api/channels/${room.id}/messages?limit=1000`)
    expect((everything.body.messages as object[]).length).toBe(Math.min(100, sent.length))
    expect((await other.refused('rest', messages.history, { room: nowhere })).code).toBe('ROOM_NOT_FOUND')
  })
})

solo(
  'N31: has_more is said of the direction that is read, and messages of one millisecond are not skipped',
  async () => {
    const room = await channelOf(owner, member, other)
    for (let at = 1; at <= 12; at++) await say(member, room, `line ${at}`)
    const all = await page(other, room)
    const moment = Date.parse(all[3]?.created_at ?? '')
    await RoomEvents.updateMany({ _id: { $in: all.slice(3, 9).map(({ id }) => id) } }, { $set: { at: moment } })
    const time = new Date(moment).toISOString()
    const read = async (door: 'rest' | 'socket', query: object) => {
      const answer = await other.does(door, messages.history, { room, limit: 2, ...query })
      return { ns: answer.messages.map(({ n }) => n), seqs: answer.messages.map(({ seq }) => seq), more: answer }
    }
    for (const door of over) {
      const found: number[] = []
      let after_seq: number | undefined
      for (let isMore = true; isMore; ) {
        const { ns, seqs, more } = await read(door, { after: time, after_seq })
        found.push(...ns)
        after_seq = seqs.at(-1)
        isMore = more.has_more
      }
      expect(found).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12])
      expect((await read(door, { before: time })).ns).toEqual([2, 3])
      const last = all[10]?.seq ?? 0
      expect((await read(door, { after_seq: last })).more).toMatchObject({
        has_more: false,
        has_older: true,
        has_newer: false,
      })
      expect((await read(door, { around_seq: last })).more).toMatchObject({ has_more: true, has_older: true })
    }
    const path = `GET /api/channels/${room.id}/messages?limit=2&since=${time}`
    expect((await other.rest(path)).body).toMatchObject({ messages: [{ n: 4 }, { n: 5 }], has_more: true })
    const rest = await other.rest(`${path}&after_seq=${all[9]?.seq}`)
    expect(rest.body).toMatchObject({ messages: [{ n: 11 }, { n: 12 }], has_more: false })
  },
)

solo('N88: what contradicts another bound of a page is refused, and never left out of account', async () => {
  const room = await channelOf(owner, member, other)
  const [first, second] = [await say(member, room, 'one'), await say(member, room, 'two')]
  for (const door of over) {
    const refused = (query: object) => other.refused(door, messages.history, { room, around_seq: second.seq, ...query })
    for (const bound of [
      { before_seq: second.seq },
      { after_seq: first.seq },
      { before: second.created_at },
      { after: first.created_at },
    ])
      expect(await refused(bound)).toMatchObject({
        code: 'VALIDATION_ERROR',
        message: `around_seq: not together with ${Object.keys(bound)[0]}`,
      })
    const twice = { room, after_seq: first.seq, after: second.seq }
    expect(await other.refused(door, messages.sync, twice)).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'after: not together with another after_seq',
    })
    const { events } = await other.does(door, messages.sync, { ...twice, after: first.seq })
    expect(events.map(({ seq }) => seq)).toEqual([second.seq])
  }
  const follow = await other.rest(`GET /api/rooms/channel/${room.id}/events?follow=true&after_seq=1&after=2`)
  expect(follow).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  const [earlier, later] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
  const since = await other.rest(`GET /api/channels/${room.id}/messages?since=${earlier}&after=${later}`)
  expect(since).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  expect((await other.rest(`GET /api/channels/${room.id}/messages?since=${later}&after=${later}`)).status).toBe(200)
})

solo.each(over)('N28: over %s the spans of mentions move with the text that is trimmed or edited', async (door) => {
  const room = await channelOf(owner, member)
  const named = (start: number) => ({ kind: 'user' as const, id: member.account, start, len: 4 })
  const { message } = await owner.does(door, messages.send, { room, text: '  hi @mem!', mentions: [named(5)] })
  expect(message).toMatchObject({ content: 'hi @mem!', mentions: [named(3)] })
  const after = async (text: string) =>
    (await owner.does(door, messages.edit, { room, id: message.id, text })).message.mentions
  expect(await after('  well, hi @mem!')).toEqual([named(9)])
  expect(await after('hi @mem, and more')).toEqual([named(3)])
  expect(await after('hi @men, and more')).toEqual([])
  const outside = { room, text: '  hi', mentions: [{ ...named(0), len: 1 }] }
  expect(await owner.refused(door, messages.send, outside)).toMatchObject({ code: 'VALIDATION_ERROR' })
})

solo.each(over)('N28: over %s a span to which a letter is added names nobody any more', async (door) => {
  const room = await channelOf(owner, member)
  const named = (start: number, len = 4) => ({ kind: 'user' as const, id: member.account, start, len })
  const edited = async (before: string, start: number, after: string, len?: number) => {
    const sent = { room, text: before, mentions: [named(start, len)] }
    const { message } = await owner.does(door, messages.send, sent)
    return (await owner.does(door, messages.edit, { room, id: message.id, text: after })).message.mentions
  }
  expect(await edited('@Ann hi', 0, '@Anna hi')).toEqual([])
  expect(await edited('@Ann hi', 0, 'x@Ann hi')).toEqual([])
  expect(await edited('hi @Ann', 3, 'hi @Annя')).toEqual([])
  expect(await edited('hi @Ann', 3, 'hi @Ann\u0301')).toEqual([])
  expect(await edited('a @Ann b', 2, 'c x@Ann d')).toEqual([])
  expect(await edited('@👩 hi', 0, '@👩\u200d🚀 hi', 3)).toEqual([])
  expect(await edited('@Ann hi', 0, '@Ann, hi')).toEqual([named(0)])
  expect(await edited('x@Ann hi', 1, 'so x@Ann hi')).toEqual([named(4)])
})

solo.each(over)('N28: over %s spans that cut a character or name words twice are refused', async (door) => {
  const room = await channelOf(owner, member)
  const text = '😀 @Ann e\u0301 👩\u200d🚀'
  const span = (start: number, len: number) => ({ kind: 'user' as const, id: member.account, start, len })
  const { message } = await owner.does(door, messages.send, {
    room,
    text,
    mentions: [span(0, 2), span(3, 4), span(11, 5)],
  })
  const bad = [
    [span(1, 1)],
    [span(0, 1)],
    [span(8, 1)],
    [span(11, 2)],
    [span(13, 3)],
    [span(3, 4), span(3, 4)],
    [span(5, 3), span(3, 4)],
  ]
  for (const mentions of bad) {
    const refused = { status: 400, code: 'VALIDATION_ERROR', message: expect.stringContaining('mentions: ') }
    expect(await owner.refused(door, messages.send, { room, text, mentions })).toMatchObject(refused)
    expect(await owner.refused(door, messages.edit, { room, id: message.id, text, mentions })).toMatchObject(refused)
  }
})

solo.each(over)('N28: over %s an edit says whom it names, and leaves out whom it no longer does', async (door) => {
  const room = await channelOf(owner, member)
  const named = (who: Person, start: number) => ({ kind: 'user' as const, id: who.account, start, len: 4 })
  const { id } = await say(owner, room, 'hi @mem')
  const edited = async (text: string, mentions?: object[]) =>
    (await owner.does(door, messages.edit, { room, id, text, mentions } as never)).message.mentions
  expect(await edited('  hi @mem and @oth', [named(member, 5), named(other, 14)])).toEqual([
    named(member, 3),
    named(other, 12),
  ])
  expect(await edited('hi @mem and @oth', [named(other, 12)])).toEqual([named(other, 12)])
  expect(await edited('well, hi @mem and @oth')).toEqual([named(other, 18)])
  const outside = await owner.refused(door, messages.edit, { room, id, text: 'hi', mentions: [named(member, 5)] })
  expect(outside).toMatchObject({ code: 'VALIDATION_ERROR' })
  const alias = { content: 'hi @mem', mentions: [named(member, 3)] }
  const { body } = await owner.rest(`PATCH /api/channels/${room.id}/messages/${id}`, alias)
  expect(body).toMatchObject({ message: { mentions: [named(member, 3)] } })
})

describe('an edit', () => {
  solo.each(over)('over %s raises the version, is judged again, and is refused on a stale version', async (door) => {
    const room = await channelOf(owner, member)
    const { id } = await say(member, room, 'frist')
    const { message } = await member.does(door, messages.edit, { room, id, version: 1, text: 'first' })
    expect(message).toMatchObject({ id, content: 'first', version: 2, is_edited: true, edited_at: expect.any(String) })
    const stale = await member.refused(door, messages.edit, { room, id, version: 1, text: 'no' })
    expect(stale).toMatchObject({ code: 'CONFLICT', status: 409 })
    expect((await other.refused(door, messages.edit, { room, id, text: 'no' })).code).toBe('NOT_A_MEMBER')
    expect((await owner.refused(door, messages.edit, { room, id, text: 'no' })).code).toBe('FORBIDDEN')
    await settle(room, { max_message_length: 8, slow_mode_seconds: 300 })
    const long = await member.refused(door, messages.edit, { room, id, text: 'far too long' })
    expect(long).toMatchObject({ code: 'MESSAGE_TOO_LONG', verdict: { step: 'length' } })
    expect((await member.does(door, messages.edit, { room, id, text: 'third' })).message.version).toBe(3)
    expect((await member.refused(door, messages.edit, { room, id: noMessage, text: 'x1' })).code).toBe(
      'MESSAGE_NOT_FOUND',
    )
    const alias = await member.rest(`PATCH /api/channels/${room.id}/messages/${id}`, { content: 'fourth' })
    expect(alias.body).toMatchObject({ message: { content: 'fourth', version: 4 } })
    expect((await page(owner, room))[0]).toMatchObject({ content: 'fourth', version: 4 })
  })

  // The log's clock cannot be set from outside, so the message is made older where it lies.
  solo('is too late after fifteen minutes', async () => {
    const room = await channelOf(owner, member)
    const [young, old] = [await say(member, room, 'young'), await say(member, room, 'old')]
    const age = (id: string, minutes: number) =>
      RoomEvents.updateOne({ _id: id }, { $set: { at: Date.now() - minutes * 60_000 } })
    await age(young.id, 14)
    await age(old.id, 15.1)
    await member.does('rest', messages.edit, { room, id: young.id, text: 'still' })
    for (const door of over)
      expect(await member.refused(door, messages.edit, { room, id: old.id, text: 'late' })).toMatchObject({
        code: 'EDIT_WINDOW_CLOSED',
        status: 400,
      })
  })

  test('of two that cross, one wins and the other is told', async () => {
    const room = await channelOf(owner, member)
    const { id } = await say(member, room, 'start')
    const seats = await Promise.all(server.urls.map((url) => person(server, 'member', url)))
    const routes = Array.from({ length: 6 }, (_, at) =>
      (seats[at % seats.length] ?? member).rest(`PATCH /api/rooms/channel/${room.id}/messages/${id}`, {
        text: `try ${at}`,
        version: 1,
      }),
    )
    const statuses = (await Promise.all(routes)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 409, 409, 409, 409, 409])
  })
})

describe('what was taken back', () => {
  const everywhereOf = async (who: Person, room: RoomRef) =>
    JSON.stringify([
      await who.does('socket', messages.sync, { room, after_seq: 0 }),
      await who.does('rest', messages.sync, { room, after_seq: 0 }),
      await who.does('socket', messages.join, { room, after_seq: 0 }),
      await who.does('rest', messages.history, { room }),
      await who.does('rest', messages.pins, { room }),
      await who.does('socket', messages.search, { room, query: 'se' }),
    ])

  solo.each(over)(
    'over %s leaves a tombstone and its text nowhere: history, catch-up, quotes, edits, pins',
    async (door) => {
      const room = await channelOf(owner, member, other)
      const { id } = await say(member, room, 'my secret-one')
      await member.does(door, messages.edit, { room, id, text: 'my secret-two' })
      const reply = await other.does(door, messages.send, { room, text: 'ah', reply_to: id })
      await owner.does(door, messages.pin, { room, id, pinned: true })
      expect(await everywhereOf(other, room)).toContain('secret-two')
      expect((await other.refused(door, messages.remove, { room, id })).code).toBe('FORBIDDEN')
      const { seq } = await owner.does(door, messages.remove, { room, id, reason: 'private' })
      expect(seq).toBeGreaterThan(reply.message.seq)
      expect((await everywhereOf(other, room)).match(/.{60}secret-/g)).toBeNull()
      const [gone, answer] = await page(member, room)
      expect(gone).toMatchObject({
        id,
        content: '[Message deleted]',
        is_deleted: true,
        deleted_by: owner.account,
        delete_reason: 'private',
        is_pinned: false,
        reactions: {},
      })
      expect(answer).toMatchObject({ content: 'ah', reply_to: null })
      expect(await member.does(door, messages.remove, { room, id })).toEqual({ seq: expect.any(Number) })
      for (const refused of await Promise.all([
        member.refused(door, messages.edit, { room, id, text: 'back' }),
        member.refused(door, messages.react, { room, id, emoji: '👍' }),
        owner.refused(door, messages.pin, { room, id, pinned: true }),
        owner.refused(door, messages.remove, { room, id: noMessage }),
      ]))
        expect(refused).toMatchObject({ code: 'MESSAGE_NOT_FOUND', status: 404 })
      expect((await member.refused(door, messages.send, { room, text: 'x1', reply_to: id })).code).toBe(
        'VALIDATION_ERROR',
      )
    },
  )

  solo('by its author under the documented path; by a moderator who may', async () => {
    const room = await channelOf(owner, member)
    const [own, foreign] = [await say(member, room, 'own'), await say(member, room, 'foreign')]
    const answer = await member.rest(`DELETE /api/channels/${room.id}/messages/${own.id}`)
    expect(answer).toMatchObject({ status: 200, body: { success: true } })
    expect((await owner.rest(`DELETE /api/channels/${room.id}/messages/${foreign.id}`)).status).toBe(200)
    expect((await page(member, room)).every(({ is_deleted }) => is_deleted)).toBe(true)
  })

  test('by a purge goes at once: one event, every message of one person, nobody else', async () => {
    const room = await channelOf(owner, member, other)
    for (let at = 0; at < 5; at++) await say(member, room, `secret-${at}`)
    await say(other, room, 'harmless')
    const { effects } = await moderates(owner, { room, action: 'purge', target: member.account, reason: 'flood' })
    expect(effects.messages_removed).toBe(5)
    expect((await everywhereOf(other, room)).match(/.{60}secret-/g)).toBeNull()
    const kept = (await page(other, room)).filter(({ is_deleted }) => !is_deleted)
    expect(kept.map(({ content }) => content)).toEqual(['harmless'])
    const { events } = await other.does('socket', messages.sync, { room })
    expect(events.filter(({ type }) => type === 'messages.purged')).toHaveLength(1)
    await say(member, room, 'after the purge')
    expect((await page(other, room)).at(-1)?.content).toBe('after the purge')
  })
})

describe('reactions', () => {
  solo(
    'N09: of a message that thousands react to, a page names a hundred, and its counts are those of all',
    async () => {
      const room = await channelOf(owner, member)
      const { id } = (await say(owner, room, 'Look')) as { id: string }
      const at = new Date().toISOString()
      const key = roomKey(room)
      const rows = Array.from({ length: 130 }, (_, one) => {
        const user_address = `0x${one.toString(16).padStart(40, '0')}`
        const emojis = [{ id: `${one}`, emoji: '👍', at }]
        return { _id: `${id} ${one}`, room: key, applied_seq: 1, is_active: true, message_id: id, user_address, emojis }
      })
      await Reactions.insertMany(rows)
      await member.does('rest', messages.react, { room, id, emoji: '🎉', on: true })
      const { reactions } = await member.does('rest', messages.reactions, { room, messageIds: id })
      const page = await member.does('rest', messages.history, { room })
      expect([reactions.length, page.reactions.length]).toEqual([100, 100])
      expect(page.reacted).toEqual({ [id]: ['🎉'] })
    },
  )

  test.each(over)(
    'N57: over %s a page says what its reader reacted with, and names are told to who asks',
    async (door) => {
      const room = await channelOf(owner, member)
      const [one, two] = [await say(owner, room, 'one'), await say(owner, room, 'two')] as { id: string }[]
      const react = (who: Person, id = '', emoji = '👍') =>
        who.does(door, messages.react, { room, id, emoji, on: true })
      await react(member, one?.id)
      await react(member, one?.id, '🎉')
      await react(owner, two?.id)
      const reactedOf = async (who: Person) => (await who.does(door, messages.history, { room })).reacted
      expect(await reactedOf(member)).toEqual({ [one?.id ?? '']: ['👍', '🎉'] })
      expect(await reactedOf(owner)).toEqual({ [two?.id ?? '']: ['👍'] })
      await member.does(door, messages.react, { room, id: one?.id ?? '', emoji: '🎉', on: false })
      expect(await reactedOf(member)).toEqual({ [one?.id ?? '']: ['👍'] })
      await member.does('rest', accounts.updateProfile, { display_name: 'Mia May' })
      // Another node that does not hear of it knows the name of before for half a minute.
      await expect
        .poll(async () => (await owner.does(door, messages.reactions, { room, messageIds: one?.id ?? '' })).reactions, {
          timeout: 60_000,
        })
        .toMatchObject([{ user_address: member.account, user_name: 'Mia May', emoji: '👍' }])
    },
  )

  solo.each(over)('over %s toggle, or are set, and their counts are absolute', async (door) => {
    const room = await channelOf(owner, member)
    const { id } = await say(owner, room, 'like me')
    expect(await member.does(door, messages.react, { room, id, emoji: '👍' })).toMatchObject({
      counts: { '👍': 1 },
      on: true,
    })
    expect(await owner.does(door, messages.react, { room, id, emoji: '👍', on: true })).toMatchObject({
      counts: { '👍': 2 },
    })
    expect(await owner.does(door, messages.react, { room, id, emoji: '👍', on: true })).toMatchObject({
      counts: { '👍': 2 },
    })
    expect(await member.does(door, messages.react, { room, id, emoji: '👍' })).toMatchObject({
      counts: { '👍': 1 },
      on: false,
    })
    const { reactions } = await member.does('rest', messages.reactions, { room, messageIds: id })
    expect(reactions).toMatchObject([{ message_id: id, user_address: owner.account, emoji: '👍' }])
    const alias = await member.rest(`PATCH /api/channels/${room.id}/messages`, { messageId: id, emoji: '🎉' })
    expect(alias.body).toEqual({ action: 'added' })
    const listed = await member.rest(`GET /api/channels/${room.id}/reactions?message_id=${id}`)
    expect(listed.body.reactions).toHaveLength(2)
    expect((await outsider.refused(door, messages.react, { room, id, emoji: '👍' })).code).toBe('NOT_A_MEMBER')
    expect((await member.refused(door, messages.react, { room, id: noMessage, emoji: '👍' })).code).toBe(
      'MESSAGE_NOT_FOUND',
    )
  })

  test('thirty toggles that cross leave a count that equals who stands by it', async () => {
    const { id } = await say(owner, general, 'toggle me')
    const toggle = (at: number) => {
      const who = crowd[at % crowd.length] ?? member
      return who.does(at % 2 ? 'socket' : 'rest', messages.react, { room: general, id, emoji: '👍' })
    }
    await Promise.all(Array.from({ length: 30 }, (_, at) => toggle(at)))
    const { reactions } = await member.does('rest', messages.reactions, { room: general, messageIds: id })
    const shown = (await page(member, general)).find((message) => message.id === id)?.reactions ?? {}
    const odd = crowd.filter((_, at) => Math.floor((29 - at) / crowd.length + 1) % 2 === 1)
    expect(reactions.map(({ user_address }) => user_address).sort()).toEqual(odd.map(({ account }) => account).sort())
    expect(shown['👍'] ?? 0).toBe(odd.length)
  })

  solo('a message takes twenty different ones and no more', async () => {
    const { id } = await say(owner, general, 'popular')
    for (let at = 0; at < 20; at++) await member.does('socket', messages.react, { room: general, id, emoji: `e${at}` })
    const refused = await other.refused('rest', messages.react, { room: general, id, emoji: 'one-too-many' })
    expect(refused).toMatchObject({ code: 'CONFLICT', status: 409 })
    await other.does('rest', messages.react, { room: general, id, emoji: 'e7' })
  })
})

describe('pins', () => {
  solo('are fifty a room at most; taking one down makes place', async () => {
    const room = await channelOf(owner)
    const sent = await Promise.all(
      Array.from({ length: 51 }, (_, at) => owner.does('socket', messages.send, { room, text: `pin ${at}` })),
    )
    const ids = sent.map(({ message }) => message.id)
    const last = ids.at(-1) ?? ''
    await Promise.all(ids.slice(0, 50).map((id) => owner.does('socket', messages.pin, { room, id, pinned: true })))
    for (const door of over)
      expect(await owner.refused(door, messages.pin, { room, id: last, pinned: true })).toMatchObject({
        code: 'CONFLICT',
        status: 409,
        message: 'A room holds at most 50 pins',
      })
    await owner.does('socket', messages.pin, { room, id: ids[0] ?? '', pinned: false })
    await owner.does('rest', messages.pin, { room, id: last, pinned: true })
  })

  solo.each(over)('over %s are set and lifted by those who may, newest first, and only once', async (door) => {
    const room = await channelOf(owner, member)
    const [one, two] = [await say(member, room, 'one'), await say(member, room, 'two')]
    expect((await member.refused(door, messages.pin, { room, id: one.id, pinned: true })).code).toBe('FORBIDDEN')
    expect((await outsider.refused(door, messages.pin, { room, id: one.id, pinned: true })).code).toBe('NOT_A_MEMBER')
    await owner.does(door, messages.pin, { room, id: one.id, pinned: true })
    const again = await owner.does(door, messages.pin, { room, id: one.id, pinned: true })
    expect(again.message).toMatchObject({ is_pinned: true, pinned_by: owner.account })
    const alias = await owner.rest(`POST /api/channels/${room.id}/messages/pin`, { messageId: two.id, pin: true })
    expect(alias.body).toEqual({ success: true, messageId: two.id, isPinned: true, pinnedBy: owner.account })
    const { pinnedMessages } = await member.does('rest', messages.pins, { room })
    expect(pinnedMessages.map(({ id }) => id)).toEqual([two.id, one.id])
    const { pins } = await member.does('socket', messages.join, { room })
    expect(pins).toEqual(pinnedMessages)
    await owner.does(door, messages.pin, { room, id: two.id, pinned: false })
    const left = await member.rest(`GET /api/channels/${room.id}/messages/pin`)
    expect(left.body.pinnedMessages).toMatchObject([{ id: one.id }])
    expect((await owner.refused(door, messages.pin, { room, id: noMessage, pinned: true })).code).toBe(
      'MESSAGE_NOT_FOUND',
    )
  })

  solo('in a group under its own path', async () => {
    const room = await groupOf(owner, member)
    const { id } = await say(member, room, 'remember')
    const pinned = await owner.rest(`POST /api/groups/${room.id}/pin`, { messageId: id, pin: true })
    const by = { messageId: id, pinnedBy: owner.account }
    expect(pinned.body).toEqual({ success: true, ...by, isPinned: true, pinned: true })
    const { body } = await member.rest(`GET /api/groups/${room.id}/pin`)
    expect(body.pinnedMessages).toMatchObject([{ id }])
    expect(body.pinned).toEqual([{ ...by, pinnedAt: (body.pinnedMessages as Message[])[0]?.pinned_at }])
    const lifted = await owner.rest(`POST /api/groups/${room.id}/pin`, { messageId: id, pin: false })
    expect(lifted.body).toEqual({ success: true, messageId: id, isPinned: false, pinned: false, pinnedBy: null })
    expect((await member.rest(`GET /api/groups/${room.id}/pin`)).body).toEqual({ pinned: [], pinnedMessages: [] })
    expect(await outsider.rest(`GET /api/groups/${room.id}/pin`)).toMatchObject({ status: 404 })
  })
})

describe('reading', () => {
  solo('of alpha is told under its own path', async () => {
    const { seq } = await say(owner, alpha, 'For all')
    expect((await member.rest('POST /api/alpha/read', { seq: 0 })).body.read_seq).toBeLessThan(seq)
    expect((await member.rest('POST /api/alpha/read', {})).body).toMatchObject({ unread: 0, mentions: 0 })
    expect(await member.rest('POST /api/alpha/read', { userAddress: owner.account })).toMatchObject({ status: 403 })
  })

  solo('members of a group see up to which message each has read', async () => {
    const room = await groupOf(owner, member, other)
    const sent = [await say(owner, room, 'one'), await say(owner, room, 'two')]
    const [first = '', last = ''] = sent.map(({ id }) => id)
    const path = `/api/groups/${room.id}/read`
    const receipts = async (who: Person) => (await who.rest(`GET ${path}`)).body.receipts
    expect(await receipts(owner)).toEqual([])
    for (const messageId of [last, first])
      expect((await member.rest(`POST ${path}`, { messageId, userAddress: member.account })).body).toEqual({
        success: true,
      })
    await other.does('rest', messages.read, { room, seq: sent[0]?.seq ?? 0 })
    const both = [
      { userAddress: member.account, lastReadMessageId: last },
      { userAddress: other.account, lastReadMessageId: first },
    ]
    for (const who of [owner, member, other]) {
      const read = await receipts(who)
      expect(read).toHaveLength(2)
      expect(read).toEqual(expect.arrayContaining(both))
    }
    expect((await member.does('socket', messages.join, { room })).me).toMatchObject({
      read_seq: sent[1]?.seq,
      unread: 0,
    })
    await other.rest(`POST /api/groups/${room.id}/leave`)
    expect(await receipts(owner)).toEqual([both[0]])
  })

  solo('what members of a group have read is for its members alone', async () => {
    const room = await groupOf(owner, member)
    const { id: messageId } = await say(owner, room, 'one')
    const path = `/api/groups/${room.id}/read`
    const elsewhere = await say(owner, await groupOf(owner), 'Elsewhere')
    expect(await member.rest(`POST ${path}`, { messageId: elsewhere.id })).toMatchObject({
      ...{ status: 404, code: 'MESSAGE_NOT_FOUND' },
    })
    for (const who of [outsider, root])
      for (const answer of [await who.rest(`GET ${path}`), await who.rest(`POST ${path}`, { messageId })])
        expect(answer).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
    expect(await member.rest(`GET ${path}?userAddress=${owner.account}`)).toMatchObject({ status: 403 })
    const channel = await channelOf(owner, member)
    expect(await member.rest(`GET /api/groups/${channel.id}/read`)).toMatchObject({ status: 404 })
    await moderates(owner, { room, action: 'ban', target: member.account })
    for (const answer of [await member.rest(`GET ${path}`), await member.rest(`POST ${path}`, { messageId })])
      expect(answer).toMatchObject({ status: 403, code: 'BANNED' })
  })

  solo.each(over)('over %s counts what is left, never goes back, and counts mentions', async (door) => {
    const room = await channelOf(owner, member)
    const sent = []
    for (let at = 0; at < 6; at++) {
      const mentions = at % 2 ? [{ kind: 'user' as const, id: member.account, start: 0, len: 3 }] : []
      sent.push((await owner.does('socket', messages.send, { room, text: `@me ${at}`, mentions })).message)
      await owner.does('rest', messages.react, { room, id: sent[0]?.id ?? '', emoji: `${at}` })
    }
    const mark = (seq: number) => member.does(door, messages.read, { room, seq })
    expect(await mark(0)).toEqual({ read_seq: 0, unread: 6, mentions: 3 })
    expect(await mark(sent[2]?.seq ?? 0)).toEqual({ read_seq: sent[2]?.seq, unread: 3, mentions: 2 })
    expect(await mark(sent[0]?.seq ?? 0)).toEqual({ read_seq: sent[2]?.seq, unread: 3, mentions: 2 })
    const { me, head_seq } = await member.does('socket', messages.join, { room })
    expect(me).toMatchObject({ read_seq: sent[2]?.seq, unread: 3 })
    expect(await mark(999_999)).toEqual({ read_seq: head_seq, unread: 0, mentions: 0 })
    expect((await member.refused(door, messages.read, { room: nowhere, seq: 1 })).code).toBe('ROOM_NOT_FOUND')
  })

  test('marks that cross keep the furthest', async () => {
    const room = await channelOf(owner, member)
    const sent = []
    for (let at = 0; at < 10; at++) sent.push(await say(owner, room, `m${at}`))
    await Promise.all(sent.map(({ seq }) => member.does('rest', messages.read, { room, seq })))
    expect(await member.does('rest', messages.read, { room, seq: 0 })).toMatchObject({
      read_seq: sent.at(-1)?.seq,
      unread: 0,
    })
  })
})

describe('search', () => {
  solo.each(over)('over %s finds messages with all of the words, newest first, page by page', async (door) => {
    const room = await channelOf(owner, member)
    for (const text of ['red apple', 'green apple', 'APPLE pie, red', 'pear']) await say(member, room, text)
    const find = async (query: string, more = {}) => await member.does(door, messages.search, { room, query, ...more })
    const contents = (found: { messages: { content: string }[] }) => found.messages.map(({ content }) => content)
    expect(contents(await find('apple red'))).toEqual(['APPLE pie, red', 'red apple'])
    const first = await find('apple', { limit: 1 })
    expect(contents(first)).toEqual(['APPLE pie, red'])
    expect(first.has_more).toBe(true)
    const rest = await find('apple', { before_seq: first.messages[0]?.seq })
    expect(contents(rest)).toEqual(['green apple', 'red apple'])
    expect((await find('quince')).messages).toEqual([])
    expect((await member.refused(door, messages.search, { room, query: ' ' })).code).toBe('VALIDATION_ERROR')
    expect((await member.refused(door, messages.search, { room: nowhere, query: 'apple' })).code).toBe('ROOM_NOT_FOUND')
  })
})

describe('a direct message', () => {
  test.each(over)('over %s is ciphertext of at least 28 bytes, seen by two and no moderator', async (door) => {
    const room = dmOf(member.account, other.account)
    for (const text of ['hello', sealed(27), `${sealed().slice(0, -2)}**`])
      expect((await member.refused(door, messages.send, { room, text })).code).toBe('VALIDATION_ERROR')
    const { message } = await member.does(door, messages.send, { room, text: sealed(28) })
    expect(message).toMatchObject({ room, channel_id: null, content: sealed(28), sender: { role: 'member' } })
    expect((await page(other, room)).at(-1)).toEqual(message)
    const clear = await member.refused(door, messages.edit, { room, id: message.id, text: 'in the clear' })
    expect(clear.code).toBe('VALIDATION_ERROR')
    for (const who of [outsider, root]) {
      expect((await who.refused(door, messages.history, { room })).code).toBe('ROOM_NOT_FOUND')
      expect((await who.refused(door, messages.sync, { room })).code).toBe('ROOM_NOT_FOUND')
      expect((await who.refused(door, messages.send, { room, text: sealed() })).code).toBe('ROOM_NOT_FOUND')
    }
    const nobody = dmOf(member.account, wallet('nobody at all').address.toLowerCase())
    expect((await member.refused(door, messages.send, { room: nobody, text: sealed() })).status).toBe(404)
    expect((await member.refused(door, messages.search, { room, query: 'hello' })).code).toBe('VALIDATION_ERROR')
    const pinned = await other.does(door, messages.pin, { room, id: message.id, pinned: true })
    expect(pinned.message.is_pinned).toBe(true)
  })

  solo.each(over)(
    'over %s is refused in both directions between people who block one another, and again allowed after',
    async (door) => {
      const [one, two] = [crowd[3], crowd[4]] as [Person, Person]
      const room = dmOf(one.account, two.account)
      const { message } = await one.does(door, messages.send, { room, text: sealed() })
      await two.does('rest', social.block, { userAddress: one.account })
      for (const who of [one, two]) {
        const refused = await who.refused(door, messages.send, { room, text: sealed() })
        expect(refused).toMatchObject({
          code: 'BLOCKED',
          status: 403,
          message: 'You cannot message this user',
          verdict: { step: 'ban' },
        })
        const { id } = message
        const touches = await Promise.all([
          who.refused(door, messages.react, { room, id, emoji: '👍' }),
          who.refused(door, messages.remove, { room, id }),
          who.refused(door, messages.edit, { room, id, text: sealed() }),
          who.refused(door, messages.pin, { room, id, pinned: true }),
          who.refused(door, messages.typing, { room, on: true }),
        ])
        for (const touch of touches) expect(touch).toMatchObject({ code: 'BLOCKED', status: 403 })
      }
      expect((await outsider.refused(door, messages.send, { room, text: sealed() })).code).toBe('ROOM_NOT_FOUND')
      await two.does('rest', social.unblock, { userAddress: one.account })
      await one.does(door, messages.send, { room, text: sealed() })
    },
  )
})

describe('the documented paths', () => {
  solo('read the message at top level and under its name, in channels, groups and alpha', async () => {
    const group = await groupOf(owner, member)
    const channel = await channelOf(owner, member)
    for (const path of [
      `/api/channels/${channel.id}`,
      `/api/groups/${group.id}`,
      '/api/alpha',
      '/api/channels/global',
    ]) {
      const sent = await member.rest(`POST ${path}/messages`, { content: 'by path', senderAddress: member.account })
      expect(sent).toMatchObject({ status: 200, body: { content: 'by path', message: { content: 'by path' } } })
      const listed = await member.rest(`GET ${path}/messages?limit=5`)
      expect((listed.body.messages as { id: string }[]).at(-1)?.id).toBe(sent.body.id)
      expect(listed.body.reactions).toEqual([])
    }
  })

  solo('guests read channels and alpha, and nothing else', async () => {
    expect((await call(server.url, `GET /api/channels/${general.id}/messages`)).status).toBe(200)
    expect((await call(server.url, 'GET /api/rooms/alpha/events')).status).toBe(200)
    const send = await call(server.url, `POST /api/channels/${general.id}/messages`, { content: 'x1' })
    expect(send).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    const search = await call(server.url, `GET /api/rooms/channel/${general.id}/search?query=by`)
    expect(search.status).toBe(401)
  })
})
