// Modes: embedded, two-nodes-redis
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Webhooks } from '#server/domains/platform/webhooks/model'
import { webhooks } from '#shared/api/platform/webhooks'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, person, say } from '#test/support/people'
import { receiver } from '#test/support/receiver'
import { webOver } from '#test/support/web'

let server: Booted
let owner: Person
let came: Awaited<ReturnType<typeof receiver>>

beforeAll(async () => {
  came = await receiver()
  server = await boot({ services: { web: webOver({ 'hooks.test': came.server.port }) } })
  owner = await person(server, 'turns: owner')
})
afterAll(async () => {
  await server.close()
  await came.server.close()
})

let paths = 0
async function hookOn(...rooms: RoomRef[]) {
  const path = `/turn-${++paths}`
  const { webhook } = await owner.does('rest', webhooks.create, { url: `https://hooks.test${path}`, rooms })
  return { path, id: webhook.id }
}
const arrive = (path: string, texts: string[], seconds: number) =>
  expect.poll(() => came.textsAt(path), { timeout: seconds * 1_000, interval: 50 }).toEqual(texts)
const enable = (id: string, enabled: boolean) => owner.does('rest', webhooks.update, { id, enabled })
const deliveries = async (id: string) => (await owner.does('rest', webhooks.deliveries, { id })).deliveries
const holderOf = async (id: string) => (await Webhooks.findOne({ _id: id }).lean())?.holder

/** How many requests to a path are open, and how many were at most; nothing is answered. */
function hang(path: string) {
  const open = { now: 0, most: 0 }
  came.answers.set(path, (response: ServerResponse) => {
    open.now++
    open.most = Math.max(open.most, open.now)
    response.on('close', () => open.now--)
  })
  return open
}

test('N90: receivers that hang hold up no other of their account', heavy, async () => {
  const room = await channelOf(owner)
  const hanging = await Promise.all(Array.from({ length: 8 }, () => hookOn(room)))
  for (const { path } of hanging) hang(path)
  const sound = await hookOn(room)
  const begun = performance.now()
  await say(owner, room, 'one')
  await expect.poll(() => hanging.filter(({ path }) => came.at(path).length > 0).length).toBeGreaterThanOrEqual(4)
  await arrive(sound.path, ['one'], 20)
  await say(owner, room, 'two')
  await arrive(sound.path, ['one', 'two'], 20)
  expect(performance.now() - begun).toBeLessThan(18_000)
  // They have hung for longer than an attempt may take, and are known for it.
  await expect.poll(() => deliveries(hanging[0]?.id ?? ''), { timeout: 30_000 }).toMatchObject([{ state: 'retrying' }])
  await say(owner, room, 'three')
  await arrive(sound.path, ['one', 'two', 'three'], 6)
  for (const { id } of [...hanging, sound]) await owner.does('rest', webhooks.remove, { id })
})

test('N90: a receiver that is slow gives its turn to others, and its rooms are served in turns', heavy, async () => {
  const [room, other] = [await channelOf(owner), await channelOf(owner)]
  const { path, id } = await hookOn(room, other)
  const texts = Array.from({ length: 12 }, (_, at) => `${at}`)
  // The receiver of somebody, which takes its time.
  came.answers.set(path, (response) => void setTimeout(() => response.writeHead(204).end(), 1_500))
  await enable(id, false)
  for (const to of [room, other])
    for (const text of texts) await say(owner, to, `${to.id === room.id ? 'a' : 'b'}${text}`)
  await enable(id, true)
  await expect.poll(() => holderOf(id)).toEqual(expect.any(String))
  const first = await holderOf(id)
  await expect
    .poll(async () => [null, first].includes((await holderOf(id)) ?? null), { timeout: 25_000, interval: 50 })
    .toBe(false)
  await expect.poll(() => new Set(came.textsAt(path).map((text) => text?.[0])).size, { timeout: 12_000 }).toBe(2)
  await owner.does('rest', webhooks.remove, { id })
})

test.each([
  ['enabled once more', [true]],
  ['paused and enabled', [false, true]],
])('N90: a webhook that is %s has one request open at a time', heavy, async (_what, changes) => {
  const room = await channelOf(owner)
  const { path, id } = await hookOn(room)
  const open = hang(path)
  await say(owner, room, 'one')
  await expect.poll(() => came.at(path).length, { timeout: 15_000 }).toBe(1)
  const before = await holderOf(id)
  for (const enabled of changes) await enable(id, enabled)
  expect(await holderOf(id)).toBe(before)
  await say(owner, room, 'two')
  await expect.poll(() => deliveries(id), { timeout: 30_000 }).toMatchObject([{ state: 'retrying' }])
  expect(open.most).toBe(1)
  came.answers.delete(path)
  await expect.poll(() => came.textsAt(path).slice(-2), { timeout: 30_000 }).toEqual(['one', 'two'])
  expect(open.most).toBe(1)
  await owner.does('rest', webhooks.remove, { id })
})
