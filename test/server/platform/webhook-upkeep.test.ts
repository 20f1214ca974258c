// Modes: embedded
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { WebhookDeliveries, WebhookPositions, Webhooks } from '#server/domains/platform/webhooks/model'
import { webhooks } from '#shared/api/platform/webhooks'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
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
  owner = await person(server, 'upkeep: owner')
})
afterAll(async () => {
  await server.close()
  await came.server.close()
})

let paths = 0
async function hookOn(...rooms: RoomRef[]) {
  const path = `/kept-${++paths}`
  const { webhook } = await owner.does('rest', webhooks.create, { url: `https://hooks.test${path}`, rooms })
  return { path, id: webhook.id }
}
const arrive = (path: string, texts: string[]) =>
  expect.poll(() => came.textsAt(path), { timeout: 20_000, interval: 50 }).toEqual(texts)
const deliveries = async (id: string) => (await owner.does('rest', webhooks.deliveries, { id })).deliveries
const positionsOf = async (webhook: string) => (await WebhookPositions.find({ webhook }).lean()).map(({ room }) => room)

test('N90: positions of webhooks that are stopped are not read', heavy, async () => {
  const room = await channelOf(owner)
  const [on, off] = [await hookOn(room), await hookOn(room)]
  await owner.does('rest', webhooks.update, { id: off.id, enabled: false })
  const find = vi.spyOn(WebhookPositions, 'find')
  onTestFinished(() => void find.mockRestore())
  const asked = () => find.mock.calls.map(([filter]) => JSON.stringify(filter))
  const swept = () => asked().filter((filter) => filter.includes('"webhook":{"$in"') && filter.includes(on.id))
  await expect.poll(() => swept().length, { timeout: 30_000 }).toBeGreaterThan(0)
  for (const filter of asked()) {
    expect(filter).toMatch(/"webhook"|"unsure_since"/)
    expect(filter).not.toContain(off.id)
  }
})

test('N90: what is to be replayed and is not there, or of a room that was left, is given up for good', async () => {
  const [room, left] = [await channelOf(owner), await channelOf(owner)]
  const { path, id } = await hookOn(room, left)
  await say(owner, left, 'left')
  await say(owner, room, 'one')
  await expect.poll(() => came.at(path).length, { timeout: 15_000 }).toBe(2)
  await expect.poll(() => deliveries(id), { timeout: 15_000 }).toHaveLength(2)
  const [stored] = await WebhookDeliveries.find({ webhook: id, room: roomKey(room) }).lean()
  const gone = { ...stored, _id: `${id}|gone`, event: 'gone', state: 'dead' as const, at: new Date(0) }
  await WebhookDeliveries.create(gone)
  await owner.does('rest', webhooks.update, { id, rooms: [room] })
  for (const { id: delivery } of await deliveries(id)) await owner.does('rest', webhooks.replay, { id, delivery })
  await expect
    .poll(async () => (await deliveries(id)).map((one) => `${one.state}: ${one.error}`).toSorted(), { timeout: 30_000 })
    .toEqual(['dead: The event is not there any more', 'dead: The webhook has left the room', 'delivered: null'])
  expect(came.textsAt(path).toSorted()).toEqual(['left', 'one', 'one'])
  expect((await owner.does('rest', webhooks.read, { id })).webhook.enabled).toBe(true)
})

test('N90: of a webhook that was never made, or that a crash has half removed, nothing is kept', heavy, async () => {
  const [room, other] = [await channelOf(owner), await channelOf(owner)]
  const create = vi.spyOn(Webhooks, 'create').mockRejectedValueOnce(new Error('The process was ended here'))
  const refused = await owner.tries('rest', webhooks.create, { url: 'https://hooks.test/', rooms: [room] })
  create.mockRestore()
  expect(refused.ok).toBe(false)
  const removed = await hookOn(other)
  const deletes = vi
    .spyOn(WebhookPositions, 'deleteMany')
    .mockRejectedValueOnce(new Error('The process was ended here'))
  expect((await owner.tries('rest', webhooks.remove, { id: removed.id })).ok).toBe(false)
  deletes.mockRestore()
  const { path, id } = await hookOn(room, other)
  const orphans = () =>
    WebhookPositions.countDocuments({ webhook: { $ne: id }, room: { $in: [room, other].map(roomKey) } })
  expect(await orphans()).toBe(2)
  server.setAhead(2 * 60 * 60)
  onTestFinished(() => server.setAhead(0))
  await expect.poll(orphans, { timeout: 30_000 }).toBe(0)
  expect((await positionsOf(id)).toSorted()).toEqual([room, other].map(roomKey).toSorted())
  await say(owner, room, 'goes on')
  await arrive(path, ['goes on'])
})

test('N90: what is sent, what comes again and what stops is counted', heavy, async () => {
  const room = await channelOf(owner)
  const figure = async (name: string) => {
    const texts = await Promise.all(server.apps.map(({ node }) => node.metrics.text()))
    const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line.startsWith(`${name} `))
    return lines.reduce((sum, line) => sum + Number(line.slice(name.length + 1)), 0)
  }
  const attempts = (outcome: string) => figure(`plaza_webhook_attempts_total{outcome="${outcome}"}`)
  const names = ['delivered', 'retried', 'failed']
  const before = await Promise.all(names.map(attempts))
  const since = async () => (await Promise.all(names.map(attempts))).map((count, at) => count - (before[at] ?? 0))
  const { path, id } = await hookOn(room)
  await say(owner, room, 'one')
  await expect.poll(since, { timeout: 20_000 }).toEqual([1, 0, 0])
  came.answers.set(path, 500)
  await say(owner, room, 'two')
  await expect.poll(async () => (await since())[1], { timeout: 20_000 }).toBeGreaterThan(0)
  await expect.poll(() => figure('plaza_webhooks_waiting'), { timeout: 25_000 }).toBeGreaterThan(0)
  const dayAgo = new Date(Date.now() - 25 * 60 * 60_000)
  await WebhookPositions.updateMany({ webhook: id, attempts: { $gt: 0 } }, { $set: { failing_since: dayAgo } })
  await expect.poll(async () => (await since())[2], { timeout: 30_000 }).toBe(1)
  const stopped = await figure('plaza_webhooks_stopped_total{reason="GONE"}')
  came.answers.set(path, 410)
  await say(owner, room, 'three')
  await expect.poll(() => figure('plaza_webhooks_stopped_total{reason="GONE"}'), { timeout: 30_000 }).toBe(stopped + 1)
})
