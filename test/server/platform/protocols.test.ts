// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forgetSentEpoch, isNewEpoch } from '#server/domains/rooms/messages/listen'
import type { Node } from '#server/kernel/context'
import { wholeBatch, wholeEvent, wholeSent } from '#shared/api/rooms/lean'
import { LeanSent } from '#shared/api/rooms/message'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { LeanBatch, LeanEvent, type RoomEvent, RoomEvent as RoomEventSchema } from '#shared/api/rooms/room-events'
import { capabilitiesChanged, ephemeral, rooms } from '#shared/api/rooms/rooms'
import { protocols } from '#shared/kit/connection'
import type { RoomRef } from '#shared/kit/primitives'
import { openWire } from '#test/hostile/wire'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, moderates, type Person, people, sealed } from '#test/support/people'
import { solo } from '#test/support/solo'
import { storeFileOn } from '#test/support/stored-files'

let server: Booted
let owner: Person
let ada: Person
let bob: Person
const open: { close(): void }[] = []

beforeAll(async () => {
  server = await boot()
  ;[owner, ada, bob] = await people(server, 'owner', 'ada', 'bob')
})
afterAll(async () => {
  for (const wire of open) wire.close()
  await server.close()
})

/** A socket of a protocol, as its frames are; what it hears of a room is put back to whole events. */
async function wireOf({ token }: Person, protocol?: unknown, url = server.url) {
  const wire = await openWire(url, '/rooms', { token, ...(protocol === undefined ? {} : { protocol }) })
  open.push(wire)
  const frames = () => wire.heard.filter((frame) => frame.startsWith('42/rooms,["room:event'))
  return {
    ...wire,
    frames,
    events: () => (protocol === 2 ? wholeEvents(frames()) : plainEvents(frames())),
    ready: async () => {
      const isReady = (frame: string) => frame.startsWith('42/rooms,["session:ready"')
      await expect.poll(() => wire.heard.some(isReady)).toBe(true)
      return JSON.parse(wire.heard.find(isReady)?.slice('42/rooms,'.length) ?? '')[1]
    },
    async does(event: string, input: object) {
      const ack = await wire.ask(event, JSON.stringify(input))
      if (!ack?.ok) throw new Error(`${event}: ${JSON.stringify(ack)}`)
      return ack
    },
  }
}

const payloadOf = (frame: string) => JSON.parse(frame.slice('42/rooms,'.length)) as [string, never]
const plainEvents = (frames: readonly string[]): RoomEvent[] =>
  frames.flatMap((frame) => {
    const [name, payload] = payloadOf(frame)
    return name === 'room:event' ? [payload as RoomEvent] : (payload as { events: RoomEvent[] }).events
  })
function wholeEvents(frames: readonly string[]): RoomEvent[] {
  const epochs = new Map<string, string>()
  return frames.flatMap((frame) => {
    const [name, payload] = payloadOf(frame)
    const isOne = name === 'room:event'
    expect((isOne ? LeanEvent : LeanBatch).parse(payload)).toEqual(payload)
    const { room } = payload as LeanEvent
    const told = epochs.get(room) ?? 'never told'
    const whole = isOne ? [wholeEvent(payload, told)] : wholeBatch(payload, told).events
    epochs.set(room, whole.at(-1)?.epoch ?? told)
    return whole
  })
}
const text = 'a text of sixty characters, as people write them in a room..'
const masked = (frame: string) =>
  frame
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uuid')
    .replace(/0x[0-9a-f]{40}/g, 'address')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replace(/"at":\d+/, '"at":0')
    .replace(/"(remaining|reset)":\d+/g, '"$1":0')
const lastOf = (frames: readonly string[]) => frames.at(-1) ?? ''

describe('a handshake', () => {
  solo.each([
    ['none', undefined, 1],
    ['null', null, 1],
    ['1', 1, 1],
    ['2', 2, 2],
  ])('that names %s as its protocol is answered with the one that is spoken', async (_name, named, spoken) => {
    const wire = await wireOf(ada, named)
    expect(await wire.ready()).toMatchObject({ protocol: spoken })
  })

  solo.each([
    ['0', 0],
    ['3', 3],
    ['a text', '2'],
    ['an object', {}],
    ['a list', [2]],
    ['true', true],
  ])('that names %s is refused with the numbers that are known', async (_name, protocol) => {
    for (const namespace of ['/rooms', '/notifications', '/moderation']) {
      const { answer, close } = await openWire(server.url, namespace, { token: ada.token, protocol })
      close()
      const message = 'protocol: this server speaks 1 and 2'
      expect(JSON.parse(answer.slice(answer.indexOf('{')))).toEqual({
        message,
        data: { code: 'INVALID_PARAMETER', message },
      })
    }
    expect(protocols).toEqual([1, 2])
  })
})

describe('a message of sixty characters', () => {
  const sent = async (protocol?: 1 | 2) => {
    const room = await channelOf(owner, ada)
    const wire = await wireOf(ada, protocol)
    await wire.does('room:join', { room })
    for (const _ of [1, 2]) await wire.does('message:send', { room, client_msg_id: crypto.randomUUID(), text })
    await expect.poll(() => wire.frames().length).toBe(2)
    const ack = lastOf(wire.heard.filter((frame) => frame.startsWith('43/rooms,')))
    return { event: lastOf(wire.frames()), ack }
  }
  const member = '{"id":"address","name":"0xff0d…eaef","role":"member","isAgent":false}'
  const message =
    `{"id":"uuid","room":{"type":"channel","id":"uuid"},"channel_id":"uuid","seq":4,"n":2,"version":1,` +
    `"client_msg_id":"uuid","sender_address":"address","sender":${member},"content":"${text}","message_type":"text",` +
    `"attachments":[],"mentions":[],"created_at":"time","reply_to_id":null,"reply_to":null,"reactions":{},` +
    `"poll_id":null,"is_pinned":false,"pinned_by":null,"pinned_at":null,"is_edited":false,"edited_at":null,` +
    `"is_deleted":false,"deleted_by":null,"deleted_at":null,"delete_reason":null}`

  solo.each([undefined, 1] as const)('is the same bytes as ever for who names %s as protocol', async (protocol) => {
    const { event, ack } = await sent(protocol)
    expect(masked(event)).toBe(
      `42/rooms,["room:event",{"room":{"type":"channel","id":"uuid"},"epoch":"uuid","seq":4,"at":"time",` +
        `"type":"message.created","actor":${member},"data":{"message":${message}}}]`,
    )
    expect(masked(ack)).toBe(
      `43/rooms,2[{"ok":true,"data":{"message":${message},"verdict":{"ok":true,"step":null,"code":null,"status":200,` +
        `"text":null,"rule":null,"until":null,"judged_seq":3},"next_send_at":null},"meta":{"request_id":"uuid",` +
        `"server_time":"time","rate":{"limit":60000,"remaining":0,"reset":0}}}]`,
    )
  })

  solo('is at most 420 bytes by protocol 2, and so is its answer', async () => {
    const { event, ack } = await sent(2)
    expect(masked(event)).toBe(
      `42/rooms,["room:event",{"room":"channel:uuid","seq":4,"at":0,"actor":{"id":"address","name":"0xff0d…eaef"},` +
        `"data":{"message":{"id":"uuid","n":2,"client_msg_id":"uuid","content":"${text}"}}}]`,
    )
    expect(masked(ack)).toBe(
      `43/rooms,2[{"ok":true,"data":{"seq":4,"at":0,"actor":{"id":"address","name":"0xff0d…eaef"},` +
        `"message":{"id":"uuid","n":2}}}]`,
    )
    expect(Buffer.byteLength(event)).toBeLessThanOrEqual(420)
    expect(Buffer.byteLength(ack)).toBeLessThanOrEqual(420)
  })
})

describe('one room with sockets of both protocols, on every node', () => {
  test('tells both the same events, in the same order, each once', async () => {
    const room = await channelOf(owner, ada, bob)
    const wires = await Promise.all(
      server.urls.flatMap((url) => [
        wireOf(ada, 1, url),
        wireOf(ada, 2, url),
        wireOf(bob, undefined, url),
        wireOf(bob, 2, url),
      ]),
    )
    for (const wire of wires) await wire.does('room:join', { room })
    const from = 4
    const { message } = await ada.does('socket', messages.send, { room, text: 'first' })
    await ada.does('rest', messages.edit, { room, id: message.id, text: 'second' })
    await bob.does('socket', messages.react, { room, id: message.id, emoji: '🙂' })
    await owner.does('socket', messages.pin, { room, id: message.id, pinned: true })
    await bob.does('socket', messages.send, { room, text: 'an answer', reply_to: message.id })
    const asked = { room, question: 'When?', options: ['Now', 'Then'] }
    const { poll } = await owner.does('rest', polls.create, asked)
    await ada.does('rest', polls.vote, { room, pollId: poll.id, optionIndex: 0 })
    await owner.does('rest', rooms.setTopic, { room, topic: 'Both' })
    await ada.does('rest', messages.remove, { room, id: message.id })
    await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        (at % 2 ? ada : bob).does('socket', messages.send, { room, text: `${at}` }),
      ),
    )
    await moderates(owner, { room, action: 'rules', patch: { rules: { polls_allowed: false } } })
    await moderates(owner, { room, action: 'purge', target: bob.account })
    const { events, head_seq } = await owner.does('rest', messages.sync, { room, after_seq: from - 1 })
    for (const wire of wires) await expect.poll(() => wire.events().at(-1)?.seq).toBe(head_seq)
    const seqs = Array.from({ length: head_seq - from + 1 }, (_, at) => from + at)
    expect(events.map(({ seq }) => seq)).toEqual(seqs)
    // A message is told as it is now, which one node may know before another.
    const others = (all: readonly RoomEvent[]) =>
      all.filter(({ type }) => type !== 'message.created' && type !== 'message.edited')
    for (const [at, wire] of wires.entries()) {
      const plain = wires[at - (at % 4)]?.events() ?? []
      expect(wire.events()).toEqual(plain)
      expect(plain.map(({ seq }) => seq)).toEqual(seqs)
      for (const event of plain) expect(RoomEventSchema.parse(event)).toEqual(event)
      expect(others(plain)).toEqual(others(events))
    }
    const types = new Set(events.map(({ type }) => type))
    expect(types.size).toBeGreaterThan(8)
  })

  test('P6: who is banned hears of the ban and of nothing after it, by either protocol', async () => {
    const room = await channelOf(owner, ada, bob)
    const [plain, lean, stays] = [await wireOf(bob, 1), await wireOf(bob, 2, server.urls.at(-1)), await wireOf(ada, 2)]
    for (const wire of [plain, lean, stays]) await wire.does('room:join', { room })
    await ada.does('socket', messages.send, { room, text: 'before' })
    const acts = [
      moderates(owner, { room, action: 'ban', target: bob.account, duration: 'permanent' }),
      ...Array.from({ length: 20 }, (_, at) => ada.does('socket', messages.send, { room, text: `after ${at}` })),
    ]
    await Promise.all(acts)
    const { events, head_seq } = await owner.does('rest', messages.sync, { room, after_seq: 0 })
    await expect.poll(() => stays.events().at(-1)?.seq).toBe(head_seq)
    const ban = events.find(({ type }) => type === 'moderation.applied')?.seq
    for (const wire of [plain, lean]) {
      expect(wire.events().at(-1)?.seq).toBe(ban)
      expect(wire.events()).toEqual(stays.events().filter(({ seq }) => seq <= (ban ?? 0)))
    }
    expect((await lean.ask('room:join', JSON.stringify({ room })))?.error?.code).toBe('BANNED')
  })

  test('tells both how many are online and what they may do; who leaves hears no more', heavy, async () => {
    const room = await channelOf(owner, ada, bob)
    const [plain, lean] = [await wireOf(ada, 1), await wireOf(bob, 2)]
    for (const wire of [plain, lean]) await wire.does('room:join', { room })
    const online = (wire: typeof plain) =>
      wire.heard
        .filter((frame) => frame.startsWith(`42/rooms,["${ephemeral.name}"`))
        .map((frame) => ephemeral.payload.parse(payloadOf(frame)[1]).online)
    for (const wire of [plain, lean]) await expect.poll(() => online(wire).at(-1)).toBe(2)
    expect((await plain.does('room:join', { room })).data).toMatchObject({ online: 2 })
    await moderates(owner, { room, action: 'rules', patch: { rules: { gifs_allowed: false } } })
    const isAboutRights = (frame: string) => frame.startsWith(`42/rooms,["${capabilitiesChanged.name}"`)
    for (const wire of [plain, lean]) await expect.poll(() => wire.heard.filter(isAboutRights).length).toBe(1)
    await lean.does('room:leave', { room })
    await ada.does('socket', messages.send, { room, text: 'unheard' })
    await expect.poll(() => plain.events().length).toBe(2)
    await expect.poll(() => online(plain).at(-1)).toBe(1)
    expect(lean.events().map(({ type }) => type)).toEqual(['rules.updated'])
  })
})

describe('the epoch by protocol 2', () => {
  const said = (frames: readonly string[]) =>
    frames.map((frame) => (payloadOf(frame)[1] as LeanEvent).epoch !== undefined)

  solo('is said by the first event after somebody came or went, and left out by the others', async () => {
    const room = await channelOf(owner, ada, bob)
    const [one, other] = [await wireOf(ada, 2), await wireOf(bob, 2)]
    const says = async () => void (await owner.does('rest', messages.send, { room, text: 'x' }))
    const hears = (count: number) => expect.poll(() => one.frames().length).toBe(count)
    await one.does('room:join', { room })
    for (const count of [1, 2, 3]) await says().then(() => hears(count))
    const { data } = await other.does('room:join', { room })
    for (const count of [4, 5]) await says().then(() => hears(count))
    await other.does('room:leave', { room })
    for (const count of [6, 7]) await says().then(() => hears(count))
    expect(said(one.frames())).toEqual([true, false, false, true, false, true, false])
    expect(said(other.frames())).toEqual([true, false])
    expect(new Set(one.events().map(({ epoch }) => epoch))).toEqual(new Set([(data as { epoch: string }).epoch]))
  })

  solo('of another one says so, and the next is of that', () => {
    const node = { state: new Map() } as Node
    const says = (key: string, epoch: string) => isNewEpoch(node, key, epoch)
    expect(['first', 'first', 'second', 'second', 'first'].map((epoch) => says('alpha', epoch))).toEqual([
      true,
      false,
      true,
      false,
      true,
    ])
    expect([says('channel:a', 'first'), says('alpha', 'first')]).toEqual([true, false])
    forgetSentEpoch(node, 'alpha')
    expect([says('alpha', 'first'), says('channel:a', 'first')]).toEqual([true, false])
  })

  solo('is told where the join could not tell it, as nothing had been said yet', async () => {
    const room = { type: 'dm', id: [ada.account, bob.account].sort().join('~') } as const
    const lean = await wireOf(ada, 2)
    expect((await lean.does('room:join', { room })).data).toMatchObject({ epoch: '' })
    await bob.does('rest', messages.send, { room, text: sealed() })
    await expect.poll(() => lean.events().length).toBeGreaterThan(0)
    const { epoch } = await ada.does('rest', messages.sync, { room, after_seq: 0 })
    expect(lean.events().map((event) => event.epoch)).toEqual(lean.events().map(() => epoch))
    expect(epoch).not.toBe('')
  })
})

describe('the answer to a send', () => {
  const both = async (room: RoomRef, input: object) => {
    const key = `media/chat/${ada.account.toLowerCase()}/${crypto.randomUUID()}.png`
    const url = await storeFileOn(server, ada.account, key, new Uint8Array(40))
    const given = JSON.parse(JSON.stringify(input).replace('OWN', url))
    const drafted = { room, client_msg_id: crypto.randomUUID(), ...given }
    const lean = await (await wireOf(ada, 2)).does('message:send', drafted)
    expect(lean).not.toHaveProperty('meta')
    expect(LeanSent.parse(lean.data)).toEqual(lean.data)
    const again = await (await wireOf(ada, 1)).does('message:send', drafted)
    const rest = await ada.does('rest', messages.send, drafted as never)
    const whole = wholeSent(lean.data as LeanSent, drafted as never)
    return { whole, again: again.data, rest, lean: lean.data as LeanSent }
  }

  solo.each([
    ['a text', { text: 'hello' }],
    ['spaces around it', { content: '  hello  ' }],
    ['another spelling', { content: 'hello', messageType: 'gif' }],
    ['an older type', { text: 'hello', type: 'image' }],
    ['mentions in capitals', { text: '@somebody', mentions: [{ kind: 'user', id: '0xABC', start: 0, len: 9 }] }],
    ['attachments', { text: 'see', attachments: [{ url: 'OWN', name: ' a ' }] }],
    ['nothing else', { text: 'see', attachments: [], mentions: [], reply_to: null }],
    ['no key of its own', { text: 'hello', client_msg_id: undefined }],
  ])('with %s means by protocol 2 what it says by the others', async (_what, input) => {
    const room = await channelOf(owner, ada)
    const { whole, again, rest } = await both(room, input)
    if (!('client_msg_id' in input)) {
      expect({ ...whole, duplicate: true }).toEqual(again)
      expect(again).toEqual(rest)
    }
    const { messages: rows } = await ada.does('rest', messages.history, { room, limit: 50 })
    expect(rows[0]).toEqual(whole.message)
  })

  solo('quotes what it answers, and says when the next message may be sent', async () => {
    const room = await channelOf(owner, ada)
    const { message } = await owner.does('rest', messages.send, { room, text: 'first' })
    await moderates(owner, { room, action: 'rules', patch: { rules: { slow_mode_seconds: 5 } } })
    const { whole, again, lean } = await both(room, { text: 'an answer', reply_to_id: message.id })
    expect(Date.parse(lean.next_send_at ?? '')).toBeGreaterThan(Date.parse(whole.message.created_at))
    expect({ ...whole, duplicate: true, next_send_at: null }).toEqual(again)
    expect(whole.message).toMatchObject({ reply_to_id: message.id, reply_to: { content: 'first' } })
  })

  solo('tells a repeat what it was, and a refusal as ever', async () => {
    const room = await channelOf(owner, ada)
    const lean = await wireOf(ada, 2)
    const drafted = { room, client_msg_id: crypto.randomUUID(), text: 'once' }
    const first = await lean.does('message:send', drafted)
    const second = await lean.does('message:send', drafted)
    expect(second.data).toMatchObject({ duplicate: true })
    expect(wholeSent(second.data as LeanSent, drafted)).toEqual({
      ...wholeSent(first.data as LeanSent, drafted),
      duplicate: true,
    })
    const refused = await lean.ask('message:send', JSON.stringify({ room, text: '' }))
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'VALIDATION_ERROR' },
      meta: { request_id: expect.any(String) },
    })
  })
})
