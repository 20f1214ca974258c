// Modes: embedded
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Sessions } from '#server/domains/people/identity/model'
import { budgets } from '#server/kernel/limits/budgets'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, personAt, say } from '#test/support/people'
import { dial } from '#test/support/raw-connection'
import { isServed } from '#test/support/served'
import { type ChangedServer, openChangedServer } from './changed-server.ts'
import { type Ack, openWire, request } from './wire.ts'

const { answersOfConnection, answersOfAccount, answersOfAddress } = budgets

let server: ChangedServer
let innocent: Person
let room: Awaited<ReturnType<typeof channelOf>>
let head = 0
const cleanups: (() => unknown)[] = []
/** A server with the real limits that trusts who asks to say where they stand, and a room that anybody may read. */
beforeEach(async () => {
  server = await openChangedServer({ RATE_LIMIT_SCALE: '1', TRUSTED_PROXIES: '1' })
  innocent = await personAt(server.url, 'innocent', at('203.0.113.1'))
  room = await channelOf(innocent)
  head = (await say(innocent, room, 'the line is open')).seq
})
afterEach(async () => {
  vi.restoreAllMocks()
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  ;(await innocent.line()).socket.disconnect()
  await server.close()
})

const at = (address: string) => ({ 'x-forwarded-for': address })
const input = () => JSON.stringify({ room, after_seq: head })

/** People who each signed in elsewhere, and are now at one address. */
const crowd = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, one) => personAt(server.url, `crowd ${one}`, at(`198.18.0.${one}`))))

async function wireOf({ token }: Person, address = '198.51.100.1') {
  const wire = await openWire(server.url, '/rooms', { token }, at(address))
  cleanups.push(wire.close)
  return wire
}

/** So many streams over as many connections as they need; how many are open, and the refusals. */
async function follows(who: Person, count: number) {
  const refused: Ack[] = []
  const wires = []
  let open = 0
  for (let begun = 0; begun < count; ) {
    const wire = await wireOf(who)
    wires.push(wire)
    for (let here = 0; here < answersOfConnection.most && begun < count; here++, begun++) {
      const ack = await wire.askInTime('room:follow', input())
      if (ack?.ok) open++
      else if (ack) refused.push(ack)
    }
  }
  return { open, refused, wires }
}

/** One answer over REST that stays open; what came of it so far. */
function rest(query: string, who: Person | null, address = '198.51.100.1') {
  const socket = dial(server.url).on('error', () => undefined)
  const answer = { heard: '' }
  socket.on('data', (part) => {
    answer.heard += part
  })
  const path = `GET /api/rooms/channel/${room.id}/events?after_seq=${head}&${query}`
  socket.write(request(path, [`X-Forwarded-For: ${address}`, ...(who ? [`Authorization: Bearer ${who.token}`] : [])]))
  cleanups.push(() => socket.destroy())
  return answer
}

const tooMany = { code: 'RATE_LIMIT_EXCEEDED', status: 429, retryAfter: 25 }
const isRefused = ({ heard }: { heard: string }) =>
  heard.startsWith('HTTP/1.1 429') && heard.includes('RATE_LIMIT_EXCEEDED') && /retry-after: 25/i.test(heard)

describe('N04: answers that stay open are counted', () => {
  test('by connection; one that is cancelled makes place', heavy, async () => {
    const [who] = await crowd(1)
    const wire = await wireOf(who as Person)
    const acks = []
    for (let one = 0; one < 3 * answersOfConnection.most; one++) acks.push(await wire.askInTime('room:follow', input()))
    expect(acks.filter((ack) => ack?.ok)).toHaveLength(answersOfConnection.most)
    expect(acks.at(-1)?.error).toMatchObject(tooMany)
    await isServed(innocent, room, 'by connection')
    expect((await wire.askInTime('stream:cancel', JSON.stringify(acks[0]?.data)))?.ok).toBe(true)
    expect((await wire.askInTime('room:follow', input()))?.ok).toBe(true)
  })

  test('by account, over both doors together', heavy, async () => {
    const [who] = await crowd(1)
    const half = answersOfAccount.most / 2
    const { open } = await follows(who as Person, half)
    expect(open).toBe(half)
    const asked = half + 2 * answersOfAccount.most
    const all = Array.from({ length: asked }, (_, one) =>
      rest(one % 2 === 0 ? 'wait=25' : 'follow=true', who as Person),
    )
    await expect.poll(() => all.filter(isRefused).length).toBe(asked - half)
    const { refused } = await follows(who as Person, 1)
    expect(refused[0]?.error).toMatchObject(tooMany)
    await isServed(innocent, room, 'by account')
    await expect.poll(() => all.filter(({ heard }) => heard.includes('by account')).length).toBe(half)
  })

  test('by address and kind of caller, over sockets', async () => {
    const { most } = answersOfAddress.guest
    const people = await crowd((3 * most) / answersOfAccount.most)
    const each = []
    for (const who of people) each.push(await follows(who, answersOfAccount.most))
    expect(each.reduce((sum, { open }) => sum + open, 0)).toBe(most)
    expect(each.at(-1)?.refused.at(-1)?.error).toMatchObject(tooMany)
    await isServed(innocent, room, 'by address')
    const elsewhere = await wireOf(people.at(-1) as Person, '198.51.100.2')
    expect((await elsewhere.askInTime('room:follow', input()))?.ok).toBe(true)
  })

  test.each(['wait=25', 'follow=true'])('by address and kind of caller, over REST: %s', async (query) => {
    const { most } = answersOfAddress.guest
    const people = await crowd(most / answersOfAccount.most + 1)
    const all = people.flatMap((who) => Array.from({ length: answersOfAccount.most }, () => rest(query, who)))
    await expect.poll(() => all.filter(isRefused).length).toBe(answersOfAccount.most)
    await isServed(innocent, room, 'over REST')
    await expect.poll(() => all.filter(({ heard }) => heard.includes('over REST')).length).toBe(most)
  })

  test.each(['wait=25', 'follow=true'])('of nobody: %s', async (query) => {
    const all = Array.from({ length: 3 * answersOfAddress.anonymous.most }, () => rest(query, null))
    await isServed(innocent, room, 'of nobody')
    await expect
      .poll(() => all.filter(({ heard }) => heard.startsWith('HTTP/1.1 200')).length)
      .toBeLessThanOrEqual(answersOfAddress.anonymous.most)
  })
})

test('N04: who follows twenty rooms has them all over one connection', async () => {
  const [who, ...founders] = await crowd(6)
  const rooms = []
  for (const founder of founders) for (let one = 0; one < 4; one++) rooms.push(await channelOf(founder))
  const wire = await wireOf(who as Person)
  for (const one of rooms)
    expect((await wire.askInTime('room:follow', JSON.stringify({ room: one, after_seq: 0 })))?.ok).toBe(true)
  for (const one of rooms) await expect.poll(() => wire.heard.some((frame) => frame.includes(one.id))).toBe(true)
})

test('N04: a row that many follow is read, checked and judged once for all of them', async () => {
  const people = await crowd(4)
  const each: Awaited<ReturnType<typeof follows>>[] = []
  for (const who of people) each.push(await follows(who, 24))
  const heard = () =>
    each
      .flatMap(({ wires }) => wires.flatMap((wire) => wire.heard))
      .filter((frame) => frame.includes('to be read once'))
  const [read, asked, sessions] = [
    vi.spyOn(server.app.node.log, 'read'),
    vi.spyOn(server.app.node.log, 'ask'),
    vi.spyOn(Sessions, 'find'),
  ]
  await say(innocent, room, 'to be read once')
  await expect.poll(() => heard().length).toBe(4 * 24)
  expect([sessions.mock.calls.length, read.mock.calls.length]).toEqual([1, 1])
  expect(asked.mock.calls.length).toBeLessThan(people.length + 10)
})
