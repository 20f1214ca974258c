// Modes: embedded
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { budgets } from '#server/kernel/limits/budgets'
import { rooms } from '#shared/api/rooms/rooms'
import { namespaces } from '#shared/kit/contract'
import { closed } from '#test/support/closed'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, personAt, say } from '#test/support/people'
import { at, openProxy } from '#test/support/proxy'
import { dial } from '#test/support/raw-connection'
import { isServed } from '#test/support/served'
import { times } from '#test/support/times'
import { type ChangedServer, openChangedServer } from './changed-server.ts'
import { openWire, type Wire } from './wire.ts'

let server: ChangedServer
let proxy: Awaited<ReturnType<typeof openProxy>>
let innocent: Person
let room: Awaited<ReturnType<typeof channelOf>>
const cleanups: (() => unknown)[] = []
/** A server with the real limits behind a proxy, so that each client has the address it is given. */
beforeEach(async () => {
  server = await openChangedServer({ RATE_LIMIT_SCALE: '1', TRUSTED_PROXIES: '1' })
  proxy = await openProxy(server.url)
  innocent = await personAt(proxy.url, 'innocent', at('203.0.113.1'))
  room = await channelOf(innocent)
  await say(innocent, room, 'the line is open')
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await (await innocent.line()).socket.disconnect()
  await proxy.close()
  await server.close()
})

async function stranger(headers: object = at('198.51.100.1')) {
  const wire = await openWire(proxy.url, '/rooms', undefined, headers)
  cleanups.push(wire.close)
  return wire
}

/** Everything that was sent has been dealt with: the engine of Socket.IO takes a CONNECT right behind a DISCONNECT for a fault. */
async function heardOut({ socket }: Wire): Promise<void> {
  socket.ping()
  await once(socket, 'pong')
}

const refusals = (heard: readonly string[]) => heard.filter((frame) => frame.startsWith('44'))

test('a connection is closed at its eleventh packet of more than 128 kB in a minute, and nobody else is', async () => {
  const { token } = await personAt(proxy.url, 'sender of much', at('198.51.100.1'))
  const wire = await openWire(proxy.url, '/rooms', { token }, at('198.51.100.1'))
  const other = await openWire(proxy.url, '/rooms', { token }, at('198.51.100.1'))
  cleanups.push(wire.close, other.close)
  const long = `42/rooms,["message:send",{"text":"${'x'.repeat(140_000)}"}]`
  for (let packet = 1; packet <= budgets.largePackets.most; packet++) wire.send(long)
  await heardOut(wire)
  expect(wire.socket.readyState).toBe(wire.socket.OPEN)
  wire.send(long)
  await wire.closed
  await heardOut(other)
  await say(innocent, room, 'the line is still open')
})

describe('N03: a connection that asks to be let in, again and again, is closed', () => {
  test.each([
    ['with a token that is none', () => '40/rooms,{"token":"x"}'],
    ['without one', () => '40/rooms,'],
    ['with 60 kB of one', () => `40/rooms,${JSON.stringify({ token: 'x'.repeat(60_000) })}`],
    ['into namespaces that are none', (one: number) => `40/nope${one},`],
    ['into the one without a name', () => '40'],
    ['into each in turn', (one: number) => `40${namespaces[one % namespaces.length]},{"token":"x"}`],
  ])('%s, all at once', async (_title, frameOf) => {
    const wire = await stranger()
    for (let one = 0; one < 3 * budgets.connects.most; one++) wire.send(frameOf(one))
    await Promise.all([wire.closed, isServed(innocent, room, 'at once')])
    expect(refusals(wire.heard).length).toBeLessThanOrEqual(budgets.connects.most)
  })

  test.each([
    ['with a token that is none', () => '40/rooms,{"token":"x"}'],
    ['into namespaces that are none', (one: number) => `40/nope${one},`],
  ])('%s, one after another', async (_title, frameOf) => {
    const wire = await stranger()
    for (let one = 0; wire.socket.readyState === wire.socket.OPEN; one++) {
      const before = refusals(wire.heard).length
      wire.send(frameOf(one))
      await expect
        .poll(() => refusals(wire.heard).length > before || wire.socket.readyState !== wire.socket.OPEN, {
          interval: 1,
        })
        .toBe(true)
    }
    expect(refusals(wire.heard)).toHaveLength(budgets.refusals.most + 1)
    await isServed(innocent, room, 'after it')
  })

  test('and out again', heavy, async () => {
    const wire = await stranger()
    const guest = async (one: number) => {
      wire.send('40/streams,{}')
      await expect
        .poll(() => wire.heard.filter((frame) => frame.startsWith('40/streams')).length > one, { interval: 1 })
        .toBe(true)
      wire.send('41/streams,')
      await heardOut(wire)
    }
    for (let one = 0; one < budgets.connects.most; one++) await guest(one)
    wire.send('40/streams,{}')
    await Promise.all([wire.closed, isServed(innocent, room, 'in and out')])
  })

  test('where it is already, and twice at once', async () => {
    const wire = await stranger()
    for (const frame of ['40/streams,{}', '40/streams,{}']) wire.send(frame)
    await expect.poll(() => wire.heard.join('\n')).toContain('40/streams')
    expect(refusals(wire.heard)).toEqual([expect.stringContaining('CONFLICT')])
    wire.send('40/streams,{}')
    await wire.closed
  })
})

test('N03: an address asks no more than its number, and who has a session there is let in', async () => {
  const address = at('198.51.100.9')
  const member = await personAt(proxy.url, 'colleague', address)
  const { limits } = server.app.node
  for (let one = 0; one < budgets.connectsOfAddress.most; one++)
    await limits.throttle('connect', '198.51.100.9', budgets.connectsOfAddress.most, 60)
  const wire = await openWire(proxy.url, '/streams', {}, address)
  cleanups.push(wire.close)
  expect(wire.answer).toContain('RATE_LIMIT_EXCEEDED')
  const forged = await openWire(proxy.url, '/rooms', { token: 'x' }, address)
  cleanups.push(forged.close)
  expect(forged.answer).toContain('SESSION_INVALID')
  const page = await stranger(address)
  for (const name of namespaces) page.send(`40${name},${JSON.stringify({ token: member.token })}`)
  await expect.poll(() => page.heard.filter((frame) => frame.startsWith('40')).length).toBe(namespaces.length)
  const elsewhere = await openWire(proxy.url, '/streams', {}, at('198.51.100.10'))
  cleanups.push(elsewhere.close)
  expect(elsewhere.answer).toMatch(/^40/)
})

describe('N03: one meter counts every packet of a connection', () => {
  const guest = async () => {
    const wire = await openWire(proxy.url, '/streams', {}, at('198.51.100.2'))
    cleanups.push(wire.close)
    return wire
  }
  const list = '42/streams,["streams:list",{}]'
  test.each([
    ['events', () => list],
    ['acknowledgements', (one: number) => `43/streams,${one}[]`],
    ['pongs that nobody asked for', () => null],
    ['events and acknowledgements by turns', (one: number) => (one % 2 === 0 ? list : `43/streams,${one}[]`)],
  ])('%s', async (_title, frameOf) => {
    const wire = await guest()
    for (let one = 0; one < 3 * budgets.packets.most; one++) {
      const frame = frameOf(one)
      if (frame === null) wire.socket.send('3')
      else wire.send(frame)
    }
    await Promise.all([wire.closed, isServed(innocent, room, 'packets')])
  })

  test('events of all namespaces together', async () => {
    const wire = await stranger()
    const { token } = await personAt(proxy.url, 'busy', at('198.51.100.3'))
    const spaces = namespaces.slice(0, 3)
    for (const name of spaces) wire.send(`40${name},${JSON.stringify({ token })}`)
    await expect.poll(() => wire.heard.filter((frame) => frame.startsWith('40')).length).toBe(spaces.length)
    for (let one = 0; one < 3 * budgets.events.most; one++)
      wire.send(`42${spaces[one % spaces.length]},${one}["no:such",{}]`)
    const answers = () => wire.heard.filter((frame) => frame.startsWith('43'))
    await expect.poll(() => answers().length).toBe(3 * budgets.events.most)
    // They may fall into two seconds.
    expect(answers().filter((frame) => frame.includes('NOT_FOUND')).length).toBeLessThanOrEqual(2 * budgets.events.most)
  })

  test('frames that are too large together', heavy, async () => {
    const wire = await guest()
    const large = `42/streams,["no:such","${'x'.repeat(90_000)}"]`
    for (let one = 0; one < (3 * budgets.bytes.most) / large.length; one++) wire.send(large)
    await Promise.all([wire.closed, isServed(innocent, room, 'bytes')])
  })

  test('and binary parts are not waited for', async () => {
    const wire = await guest()
    wire.send('451-/streams,["no:such",{"_placeholder":true,"num":0}]')
    await wire.closed
  })

  test('a payload of many packets is not taken: there is no polling', async () => {
    const body = Array(500).fill('40/rooms,{"token":"x"}').join('\u001e')
    const path = `${proxy.url}/socket.io/?EIO=4&transport=polling`
    for (const init of [{}, { method: 'POST', body }])
      expect((await fetch(path, { ...init, headers: at('198.51.100.4') })).status).toBe(400)
    await isServed(innocent, room, 'polling')
  })
})

test('N03: who does not answer that the connection is closed is cut off, and sends no more', async () => {
  const socket = dial(server.url).on('error', () => undefined)
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n'
  const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
  socket.write(`GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n${upgrade}${key}\r\n`)
  await once(socket, 'data')
  const began = performance.now()
  // An acknowledgement before any CONNECT.
  const frame = Buffer.from([0x81, 0x84, 0, 0, 0, 0, ...Buffer.from('43[]')])
  const flood = setInterval(() => socket.write(frame), 10)
  cleanups.push(() => clearInterval(flood))
  await closed(socket)
  expect(performance.now() - began).toBeLessThan(10_000)
})

test('N03: a person with ten pages, each in every namespace, is let in everywhere, and each may go out and in', async () => {
  const { token } = await personAt(proxy.url, 'many pages', at('198.51.100.5'))
  const wires = await Promise.all(times(budgets.sockets.most, () => stranger(at('198.51.100.5'))))
  const entered = (heard: readonly string[]) => heard.filter((frame) => frame.startsWith('40'))
  for (let round = 1; round <= 3; round++) {
    for (const wire of wires) for (const name of namespaces) wire.send(`40${name},${JSON.stringify({ token })}`)
    for (const wire of wires) await expect.poll(() => entered(wire.heard).length).toBe(round * namespaces.length)
    for (const wire of wires) {
      for (const name of namespaces) wire.send(`41${name},`)
      await heardOut(wire)
    }
  }
  expect(wires.every(({ socket }) => socket.readyState === socket.OPEN)).toBe(true)
})

test('N05: one account asks a hundred people an hour into groups, whichever groups those are', async () => {
  const strangers = [
    await personAt(proxy.url, 'asked once', at('203.0.113.2')),
    await personAt(proxy.url, 'asked too', at('203.0.113.3')),
  ]
  const { group } = await innocent.does('rest', rooms.createGroup, { name: 'Everybody' })
  const ask = { id: group.id, addresses: strangers.map(({ account }) => account) }
  for (let asked = 0; asked < budgets.groupInvitations.most; asked += 2)
    await innocent.does('rest', rooms.addMembers, ask)
  expect(await innocent.refused('rest', rooms.addMembers, ask)).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  const input = { name: 'More', memberAddresses: ask.addresses }
  expect(await innocent.refused('rest', rooms.createGroup, input)).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
})
