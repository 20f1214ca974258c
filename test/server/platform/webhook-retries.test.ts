// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebhookDeliveries, WebhookPositions, Webhooks } from '#server/domains/platform/webhooks/model'
import { type Delivery, webhooks } from '#shared/api/platform/webhooks'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, over, type Person, person, say } from '#test/support/people'
import { receiver } from '#test/support/receiver'
import { webOver } from '#test/support/web'

let server: Booted
let owner: Person
let came: Awaited<ReturnType<typeof receiver>>
let paths = 0

beforeAll(async () => {
  came = await receiver()
  server = await boot({ services: { web: webOver({ 'hooks.test': came.server.port }) } })
  owner = await person(server, 'retries: owner')
})
afterAll(async () => {
  await server.close()
  await came.server.close()
})

async function hookOn(...rooms: RoomRef[]) {
  const path = `/retried-${++paths}`
  const { webhook } = await owner.does('rest', webhooks.create, { url: `https://hooks.test${path}`, rooms })
  return { path, id: webhook.id }
}
const arrive = (path: string, texts: (string | null)[]) =>
  expect.poll(() => came.textsAt(path), { timeout: 20_000, interval: 50 }).toEqual(texts)
const deliveriesOf = async (id: string, state?: Delivery['state']) =>
  (await owner.does('rest', webhooks.deliveries, { id, ...(state ? { state } : {}) })).deliveries
async function waits(id: string, attempts: number): Promise<void> {
  await expect.poll(() => deliveriesOf(id, 'retrying'), { timeout: 20_000 }).toMatchObject([{ attempts }])
  // What is told of the attempt is written before its turn is over.
  await expect.poll(async () => (await Webhooks.findOne({ _id: id }).lean())?.holder, { timeout: 20_000 }).toBeNull()
}
/** As if so much time had gone by for a webhook: what waits is due, and what fails has failed for longer. */
async function goBy(id: string, milliseconds: number): Promise<void> {
  const before = (time: Date | null | undefined) => time && new Date(time.getTime() - milliseconds)
  for (const { _id, failing_since } of await WebhookPositions.find({ webhook: id, attempts: { $gt: 0 } }).lean())
    await WebhookPositions.updateOne({ _id }, { $set: { due_at: new Date(0), failing_since: before(failing_since) } })
  const hook = await Webhooks.findOne({ _id: id }).lean()
  await Webhooks.updateOne({ _id: id }, { $set: { failing_since: before(hook?.failing_since), due_at: new Date(0) } })
}
const hour = 3_600_000
const stateOf = async (id: string) => (await owner.does('rest', webhooks.read, { id })).webhook

describe('N90: what a receiver does not take', () => {
  test(
    'comes again after a while, before anything that was said after it, and holds up no other room',
    heavy,
    async () => {
      const [room, other] = [await channelOf(owner), await channelOf(owner)]
      const { path, id } = await hookOn(room, other)
      came.answers.set(path, (response, { text }) => response.writeHead(text.includes('bad') ? 500 : 200).end())
      await say(owner, room, 'bad')
      await say(owner, room, 'after it')
      await say(owner, other, 'elsewhere')
      await arrive(path, ['bad', 'elsewhere'])
      await waits(id, 1)
      const [first] = await deliveriesOf(id, 'retrying')
      expect(first).toMatchObject({ status: 500, error: 'The receiver answered 500', type: 'message.created' })
      const wait = Date.parse(first?.next_at ?? '') - Date.parse(first?.at ?? '')
      expect(wait).toBeGreaterThanOrEqual(3_500)
      expect(wait).toBeLessThanOrEqual(6_300)
      for (let attempt = 2; attempt <= 6; attempt++) {
        await goBy(id, 0)
        await waits(id, attempt)
      }
      const [sixth] = await deliveriesOf(id, 'retrying')
      const longer = Date.parse(sixth?.next_at ?? '') - Date.parse(sixth?.at ?? '')
      expect(longer).toBeGreaterThanOrEqual(31 * 3_750)
      expect((await stateOf(id)).failing_since).not.toBeNull()
      came.answers.delete(path)
      await goBy(id, 0)
      await arrive(path, ['bad', 'elsewhere', ...Array(5).fill('bad'), 'bad', 'after it'])
      const ids = came
        .at(path)
        .filter((_, at) => at !== 1 && at < 8)
        .map(({ headers }) => headers['webhook-id'])
      expect(new Set(ids).size).toBe(1)
      await expect.poll(async () => (await stateOf(id)).failing_since).toBeNull()
      await expect.poll(() => deliveriesOf(id, 'delivered')).toHaveLength(3)
    },
  )

  test('an hour of 500 loses nothing', async () => {
    const room = await channelOf(owner)
    const { path, id } = await hookOn(room)
    came.answers.set(path, 500)
    await say(owner, room, 'one')
    await waits(id, 1)
    const said = ['two', 'three', 'four']
    for (const text of said) {
      await say(owner, room, text)
      const { attempts = 0 } = (await deliveriesOf(id, 'retrying'))[0] ?? {}
      await goBy(id, hour / 3)
      await waits(id, attempts + 1)
    }
    came.answers.delete(path)
    await goBy(id, 0)
    await expect.poll(() => came.textsAt(path).slice(-4), { timeout: 20_000 }).toEqual(['one', ...said])
  })

  test.each([
    ['seconds', '1800', 1_800_000],
    ['a time', () => new Date(Date.now() + 1_800_000).toUTCString(), 1_800_000],
    ['more than an hour', '999999', hour],
    ['nonsense', 'soon', 0],
  ])('comes again when the receiver wants it, by %s', async (_how, given, milliseconds) => {
    const room = await channelOf(owner)
    const { path, id } = await hookOn(room)
    const wanted = typeof given === 'string' ? given : given()
    came.answers.set(path, (response) => response.writeHead(429, { 'retry-after': wanted }).end())
    await say(owner, room, 'one')
    await waits(id, 1)
    const [one] = await deliveriesOf(id, 'retrying')
    const wait = Date.parse(one?.next_at ?? '') - Date.parse(one?.at ?? '')
    expect(wait).toBeGreaterThanOrEqual(Math.max(milliseconds - 30_000, 3_500))
    expect(wait).toBeLessThanOrEqual(Math.max(milliseconds, 6_300))
  })

  test('with 410 stops the webhook, which goes on with it when it is enabled', async () => {
    const room = await channelOf(owner)
    const { path, id } = await hookOn(room)
    came.answers.set(path, 410)
    await say(owner, room, 'one')
    await expect
      .poll(() => stateOf(id), { timeout: 15_000 })
      .toMatchObject({ enabled: false, stopped: { reason: 'GONE' } })
    await say(owner, room, 'two')
    came.answers.delete(path)
    await owner.does('rest', webhooks.update, { id, enabled: true })
    await arrive(path, ['one', 'one', 'two'])
  })

  test.each([
    ['its receiver is gone', 410],
    ['it was paused', 500],
  ])('is held where the webhook is stopped as %s, and says so', async (_why, status) => {
    const room = await channelOf(owner)
    const { path, id } = await hookOn(room)
    came.answers.set(path, status)
    await say(owner, room, 'one')
    await expect.poll(() => deliveriesOf(id), { timeout: 15_000 }).toHaveLength(1)
    if (status === 500) await owner.does('rest', webhooks.update, { id, enabled: false })
    await expect.poll(() => stateOf(id), { timeout: 15_000 }).toMatchObject({ enabled: false })
    const held = [{ state: 'held', status, next_at: null, attempts: 1 }]
    expect(await deliveriesOf(id)).toMatchObject(held)
    expect(await deliveriesOf(id, 'held')).toMatchObject(held)
    expect(await deliveriesOf(id, 'retrying')).toEqual([])
    came.answers.delete(path)
    await owner.does('rest', webhooks.update, { id, enabled: true })
    await expect.poll(() => deliveriesOf(id, 'delivered'), { timeout: 15_000 }).toHaveLength(1)
    expect(await deliveriesOf(id, 'held')).toEqual([])
  })

  test.each(over)(
    'is given up after a day, the room goes on, and it is sent once more over %s',
    heavy,
    async (door) => {
      const room = await channelOf(owner)
      const { path, id } = await hookOn(room)
      came.answers.set(path, (response, { text }) => response.writeHead(text.includes('bad') ? 500 : 200).end())
      await say(owner, room, 'bad')
      await say(owner, room, 'after it')
      await waits(id, 1)
      await goBy(id, 24 * hour)
      await arrive(path, ['bad', 'bad', 'after it'])
      const [dead, ...more] = await deliveriesOf(id, 'dead')
      expect(more).toEqual([])
      expect(dead).toMatchObject({ attempts: 2, status: 500, next_at: null, room })
      expect(await owner.does(door, webhooks.replay, { id })).toEqual({ replaying: 1 })
      await arrive(path, ['bad', 'bad', 'after it', 'bad'])
      await expect.poll(() => deliveriesOf(id, 'dead'), { timeout: 15_000 }).toMatchObject([{ attempts: 3 }])
      came.answers.delete(path)
      expect(await owner.does(door, webhooks.replay, { id, delivery: dead?.id ?? '' })).toEqual({ replaying: 1 })
      await arrive(path, ['bad', 'bad', 'after it', 'bad', 'bad'])
      await expect.poll(() => deliveriesOf(id, 'delivered'), { timeout: 15_000 }).toHaveLength(2)
      expect(await owner.does(door, webhooks.replay, { id })).toEqual({ replaying: 0 })
      expect((await owner.refused(door, webhooks.replay, { id, delivery: 'none' })).code).toBe('NOT_FOUND')
      expect((await owner.does(door, webhooks.deliveries, { id, limit: 1 })).deliveries).toHaveLength(1)
    },
  )

  test('for five days stops the webhook, and nothing of it is lost', async () => {
    const room = await channelOf(owner)
    const { path, id } = await hookOn(room)
    came.answers.set(path, 503)
    await say(owner, room, 'one')
    await waits(id, 1)
    await Webhooks.updateOne({ _id: id }, { $set: { failing_since: new Date(Date.now() - 5 * 24 * hour) } })
    await goBy(id, hour)
    await expect.poll(() => stateOf(id)).toMatchObject({ stopped: { reason: 'FAILING' } })
    came.answers.delete(path)
    await owner.does('rest', webhooks.update, { id, enabled: true })
    await arrive(path, ['one', 'one', 'one'])
    expect(await stateOf(id)).toMatchObject({ enabled: true, stopped: null })
  })

  test('of a webhook that is removed, nothing is kept', async () => {
    const room = await channelOf(owner)
    const { path, id } = await hookOn(room)
    await say(owner, room, 'one')
    await arrive(path, ['one'])
    await expect.poll(() => deliveriesOf(id)).toHaveLength(1)
    await owner.does('rest', webhooks.remove, { id })
    expect(await WebhookDeliveries.countDocuments({ webhook: id })).toBe(0)
    expect(await WebhookPositions.countDocuments({ webhook: id })).toBe(0)
  })
})
