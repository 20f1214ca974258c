// Modes: embedded
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { closed } from '#test/support/closed'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, personAt } from '#test/support/people'
import { dial } from '#test/support/raw-connection'
import { type ChangedServer, openChangedServer, watchProcess } from './changed-server.ts'
import { openWire, type Wire } from './wire.ts'

const watch = watchProcess()
let server: ChangedServer
let me: Person
let channel: string
beforeAll(async () => {
  server = await openChangedServer()
  me = await personAt(server.url, 'framer')
  channel = (await channelOf(me)).id
})
afterAll(async () => {
  expect(watch.faults).toEqual([])
  watch.stop()
  await server.close()
})

const open = (auth: unknown = { token: me.token }, namespace = '/rooms') => openWire(server.url, namespace, auth)
const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const isAlive = async (wire: Wire) => (await wire.ask('room:list', '{}'))?.ok
const serves = async () => (await fetch(`${server.url}/api/status`)).status

test('T49: a field is one that is declared, not one that every object has', async () => {
  const wire = await open()
  const room = { type: 'channel', id: channel }
  for (const name of ['toString', 'constructor', 'hasOwnProperty', 'valueOf', 'unknown']) {
    const ack = await wire.ask('message:send', JSON.stringify({ room, text: 'Hello', [name]: 1 }))
    expect(ack?.error).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 })
  }
  wire.close()
})

describe('T44: too much of everything', () => {
  test('a frame of 1.2 MB closes the connection with 1009', async () => {
    const wire = await open()
    wire.send(`42/rooms,0["room:list","${'x'.repeat(1_200_000)}"]`)
    expect(await wire.closed).toBe(1009)
  })

  test('N77: an event of more than 64 kB is refused, however long it is, and the connection lives', async () => {
    const wire = await open()
    for (const characters of [70_000, 99_000, 101_376, 900_000]) {
      const ack = await wire.ask('message:send', JSON.stringify({ room: null, text: 'x'.repeat(characters) }))
      expect(ack?.error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', status: 413 })
    }
    expect(await isAlive(wire)).toBe(true)
    wire.close()
  })

  test('a text is refused by its length before its characters are read, over both doors', async () => {
    const wire = await open()
    const tags = '\u{e0061}'.repeat(7_000)
    const reaction = { room: { type: 'channel', id: channel }, message_id: 'a', emoji: tags, action: 'add' }
    for (let time = 0; time < 20; time++) {
      const ack = await wire.ask('message:react', JSON.stringify(reaction))
      expect(ack?.error).toMatchObject({ code: 'VALIDATION_ERROR' })
    }
    wire.close()
    // Each of these took minutes, in which nobody else was answered.
    for (const length of [41, 240, 9_000]) {
      const answer = await me.rest('POST /api/phone/send-code', { phoneNumber: `${' '.repeat(length)}x` })
      expect(answer.status).toBe(400)
    }
    expect(await serves()).toBe(200)
  })

  test('P19: a thousand events at once are all answered: run in order, or refused', async () => {
    const wire = await open()
    const acks = await Promise.all(Array.from({ length: 1_000 }, () => wire.ask('room:list', '{}', 18_000)))
    expect(acks.every((ack) => ack !== null)).toBe(true)
    const refused = acks.filter((ack) => ack?.ok === false)
    expect(refused.every((ack) => ack?.error?.code === 'RATE_LIMIT_EXCEEDED')).toBe(true)
    expect(acks.filter((ack) => ack?.ok).length).toBeGreaterThanOrEqual(264)
    wire.close()
  })

  test('acknowledgements nobody asked for, of ids without end, change nothing', async () => {
    const wire = await open()
    for (const frame of [
      '43/rooms,7[]',
      '43/rooms,10000000000000000000000[1]',
      '43/rooms,0["x",{"y":1}]',
      `42/rooms,${'9'.repeat(23)}["room:list",{}]`,
    ])
      wire.send(frame)
    await wait(100)
    expect(wire.socket.readyState === WebSocket.OPEN ? await isAlive(wire) : 'closed').toSatisfy(
      (state) => state === true || state === 'closed',
    )
    wire.close()
    expect(await serves()).toBe(200)
  })
})

test('T44: a connection holds 100 rooms', { ...heavy, timeout: 600_000 }, async () => {
  const wire = await open()
  const rooms = [{ type: 'channel', id: channel }]
  for (let at = 1; at <= 100; at++) rooms.push(await channelOf(me))
  const acks = []
  for (const room of rooms) acks.push(await wire.ask('room:join', JSON.stringify({ room, backlog: 0 }), 5_000))
  expect(acks.slice(0, 100).every((ack) => ack?.ok)).toBe(true)
  expect(acks[100]?.error?.code).toBe('RATE_LIMIT_EXCEEDED')
  expect((await wire.ask('room:leave', JSON.stringify({ room: rooms[0] })))?.ok).toBe(true)
  expect((await wire.ask('room:join', JSON.stringify({ room: rooms[100] })))?.ok).toBe(true)
  wire.close()
})

describe('T46: nested without end', () => {
  const deep = (levels: number, leaf = '0') => `${'['.repeat(levels)}${leaf}${']'.repeat(levels)}`

  test.each([
    ['an argument', (event: string) => `42/rooms,1["${event}",${deep(20_000)}]`],
    ['a field', (event: string) => `42/rooms,1["${event}",{"room":${deep(20_000)}}]`],
    ['objects', (event: string) => `42/rooms,1["${event}",${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}]`],
    ['a field, nine levels', (event: string) => `42/rooms,1["${event}",{"room":${deep(9)}}]`],
  ])('%s', async (_title, frameOf) => {
    const wire = await open()
    wire.send(frameOf('room:join'))
    await expect.poll(() => wire.heard.find((frame) => frame.startsWith('43/rooms,1['))).toContain('VALIDATION_ERROR')
    expect(await isAlive(wire)).toBe(true)
    wire.close()
  })

  test('in the credentials of a connection', async () => {
    const wire = await open({ token: me.token, more: JSON.parse(deep(2_000)) as unknown })
    expect(wire.answer).toMatch(/^44\/rooms,.*VALIDATION_ERROR/)
    wire.close()
  })

  test('in a body', async () => {
    for (const body of [`{"room":${deep(20_000)}}`, `{"name":${deep(9)}}`, deep(30_000)]) {
      const headers = { authorization: `Bearer ${me.token}`, 'content-type': 'application/json' }
      const answer = await fetch(`${server.url}/api/channels`, { method: 'POST', headers, body })
      expect(answer.status).toBe(400)
    }
  })
})

describe('T49: names that are no names', () => {
  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'disconnecting', 'no:such', '', 'error'])(
    'event %j',
    async (event) => {
      const wire = await open()
      const ack = await wire.ask(event, '{}', 500)
      if (ack) expect(ack.error?.code).toBe('NOT_FOUND')
      wire.close()
      expect(await serves()).toBe(200)
    },
  )

  test('an unknown event is answered, not passed over', async () => {
    const wire = await open()
    expect((await wire.ask('no:such', '{}'))?.error).toMatchObject({ code: 'NOT_FOUND', status: 404 })
    expect((await wire.ask('mod:subscribe', '{}'))?.error?.code).toBe('NOT_FOUND')
    wire.close()
  })

  test.each([
    '["channel"]',
    '{"type":["channel"],"id":"x"}',
    '{"type":"channel","id":["x"]}',
    '{"type":"channel","id":{"$ne":null}}',
    '{"type":"__proto__","id":"x"}',
    '{"type":"channel","id":"__proto__"}',
    '{"type":"channel","id":"../alpha"}',
    '{"type":"channel","id":"x","__proto__":{"admin":true}}',
    '{"type":"alpha","id":"x"}',
    '"r:alpha"',
    'null',
    '5',
  ])('joining the room %s', async (room) => {
    const wire = await open()
    const ack = await wire.ask('room:join', `{"room":${room}}`)
    expect(ack?.ok).toBe(false)
    expect(ack?.error?.status).toSatisfy((status: number) => status >= 400 && status < 500)
    expect(await isAlive(wire)).toBe(true)
    wire.close()
  })

  test('arguments that are missing, many or no objects', async () => {
    const wire = await open()
    for (const args of ['null,null', '{},{}', Array(100).fill('{}').join(','), '"x"', '[]', 'true', '7'])
      expect((await wire.ask('message:send', args))?.error?.code).toBe('VALIDATION_ERROR')
    expect((await wire.ask('room:list', '{"extra":1}'))?.error?.code).toBe('VALIDATION_ERROR')
    expect((await wire.ask('room:list', ''))?.ok).toBe(true)
    wire.close()
  })
})

describe('T50: nobody listens at a room they were not let into', () => {
  test('rooms of sockets, accounts and moderators cannot be joined by name', async () => {
    const victim = await personAt(server.url, 'overheard')
    const spy = await personAt(server.url, 'spy')
    const [his, hers] = [
      await openWire(server.url, '/rooms', { token: spy.token }),
      await open({ token: victim.token }),
    ]
    const dm = await victim.rest('POST /api/dm', { recipientAddress: me.account })
    const group = await victim.rest('POST /api/groups', { name: 'Private', memberAddresses: [me.account] })
    const ids = [victim.account, `u:${victim.account}`, 'm:global', 'u', victim.account.slice(2)]
    const dmId = (dm.body.room as { id: string }).id
    const rooms = [
      ...ids.flatMap((id) => ['channel', 'group', 'stream', 'dm', 'token'].map((type) => ({ type, id }))),
      { type: 'dm', id: dmId },
      { type: 'group', id: (group.body.group as { id: string }).id },
    ]
    for (const room of rooms) {
      const ack = await his.ask('room:join', JSON.stringify({ room }))
      expect([room, ack?.ok]).toEqual([room, false])
      expect([400, 403, 404]).toContain(ack?.error?.status)
      const read = await his.ask('room:sync', JSON.stringify({ room }))
      expect([room, read?.ok]).toEqual([room, false])
    }
    const before = his.heard.length
    const text = Buffer.from('a secret of at least 28 bytes').toString('base64')
    const sent = await hers.ask('message:send', JSON.stringify({ room: { type: 'dm', id: dmId }, text }))
    expect(sent?.ok).toBe(true)
    await wait(300)
    expect(his.heard.slice(before).filter((frame) => frame.includes(text))).toEqual([])
    his.close()
    hers.close()
  })

  test('after the ack of a ban no message reaches the banned, in sixty trials', heavy, async () => {
    const target = await personAt(server.url, 'banned listener')
    const room = { type: 'channel', id: channel }
    for (let trial = 0; trial < 60; trial++) {
      expect((await target.rest(`POST /api/channels/${channel}/join`, {})).status).toBe(200)
      const wire = await open({ token: target.token })
      expect((await wire.ask('room:join', JSON.stringify({ room })))?.ok).toBe(true)
      const ban = { chatType: 'channel', chatId: channel, action: 'ban', targetAddress: target.account }
      expect((await me.rest('POST /api/chat-rules/ban', ban)).status).toBe(200)
      await me.rest(`POST /api/channels/${channel}/messages`, { content: `behind closed doors ${trial}` })
      await wait(30)
      expect(wire.heard.filter((frame) => frame.includes('behind closed doors'))).toEqual([])
      expect((await wire.ask('room:join', JSON.stringify({ room })))?.error?.code).toBe('BANNED')
      await me.rest('POST /api/chat-rules/ban', { ...ban, action: 'unban' })
      wire.close()
    }
  })
})

describe('frames outside of the protocol', () => {
  test.each([
    ['text before the handshake', undefined, 'hello'],
    ['an engine type', undefined, '9'],
    ['a packet type', { token: '' }, '49'],
    ['bad JSON', {}, '42/rooms,0["room:list",{]'],
    ['an object for an array', {}, '42/rooms,{}'],
    ['no event', {}, '42/rooms,0[]'],
    ['an object for a name', {}, '42/rooms,0[{}]'],
    ['a number for a name', {}, '42/rooms,0[5,1]'],
    ['a reserved name', {}, '42/rooms,0["connect"]'],
    ['another reserved name', {}, '42/rooms,0["disconnect"]'],
    ['attachments that never come', {}, '451-/rooms,0["room:list",{"_placeholder":true,"num":0}]'],
    ['attachments without number', {}, '4599999999-/rooms,["room:list"]'],
    ['a placeholder out of range', {}, '451-/rooms,0["room:list",{"_placeholder":true,"num":"__proto__"}]'],
    ['a namespace that is not there', {}, '40/admin,'],
    ['a second CONNECT', {}, '40/rooms,{}'],
    ['credentials that are a list', undefined, '40/rooms,["x"]'],
    ['credentials that are text', undefined, '40/rooms,"x"'],
    ['a token that is an object', undefined, '40/rooms,{"token":{"$ne":null}}'],
    ['pings', undefined, '2'],
  ])('%s', async (_title, auth, frame) => {
    const wire = await openWire(server.url, '/rooms', auth && { token: me.token })
    wire.send(frame)
    await wait(50)
    wire.close()
    expect(await serves()).toBe(200)
  })

  test('binary, and text that is no UTF-8', async () => {
    const wire = await open()
    wire.send(Buffer.from([0, 255, 254, 1]))
    await wait(50)
    wire.close()
    const socket = dial(server.url)
    socket.on('error', () => undefined)
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n'
    const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    socket.write(`GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n${upgrade}${key}\r\n`)
    await once(socket, 'data')
    for (const frame of [
      [0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe],
      [0x81, 0x02, 0x34, 0x30],
      [0xf1, 0x80, 0, 0, 0, 0],
      [0x88, 0x82, 0, 0, 0, 0, 0, 1],
    ])
      socket.write(Buffer.from(frame))
    await closed(socket)
    expect(await serves()).toBe(200)
  })

  test('a namespace costs no more than its refusal', async () => {
    const wire = await open()
    for (let at = 0; at < 2_000; at++) wire.send(`40/nowhere${at},`)
    await expect.poll(() => wire.heard.filter((frame) => frame.startsWith('44/nowhere')).length).toBe(2_000)
    expect(server.app.node.live.audienceSize('/rooms', 'x')).toBe(0)
    expect(await isAlive(wire)).toBe(true)
    wire.close()
  })
})
