// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Streams } from '#server/domains/streams/streams/model'
import { notifyWatchers } from '#server/domains/streams/streams/notices'
import { type FakeVideo, fakeVideo } from '#server/ports/video/fake'
import { accounts } from '#shared/api/people/accounts'
import { streamListed } from '#shared/api/streams/stream-events'
import type { PublicStream } from '#shared/api/streams/stream-records'
import { streams } from '#shared/api/streams/streams'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person, personAt } from '#test/support/people'

let server: Booted
let video: FakeVideo
let named = 0
beforeAll(async () => {
  video = fakeVideo()
  server = await boot({ services: { video } })
})
afterAll(() => server.close())

const node = () => server.apps[0]?.node ?? expect.fail()
async function opened(url?: string) {
  const owner = await person(server, `on air ${++named}`, url)
  const { stream } = await owner.does('rest', streams.create, { title: `Stream ${named}` })
  return { owner, ...stream }
}

/** A client that loads the directory once and then applies its events. Only added streams can be updated. */
async function holder(url: string) {
  const line = await (await personAt(url, `holder ${++named}`)).socket('/streams')
  const { streams: answered } = await ask(line)
  const asked = new Map(answered.map((stream) => [stream.id, stream]))
  return () => {
    const held = new Map<string, PublicStream>(asked)
    for (const { added, updated, removed } of line.all(streamListed)) {
      for (const stream of added) held.set(stream.id, stream)
      for (const stream of updated) if (held.has(stream.id)) held.set(stream.id, stream)
      for (const id of removed) held.delete(id)
    }
    return byId([...held.values()])
  }
}
type Socket = Awaited<ReturnType<Person['socket']>>
const ask = async ({ socket }: Socket): Promise<{ streams: PublicStream[] }> =>
  (await socket.timeout(30_000).emitWithAck('stream:list', { live: true })).data
const byId = (list: readonly PublicStream[]) => list.toSorted((one, other) => one.id.localeCompare(other.id))
const fresh = async (): Promise<PublicStream[]> =>
  byId((await (await fetch(`${server.url}/api/public/streams?limit=100`)).json()).streams)

/** All hold what a fresh answer lists. */
async function agree(holders: readonly (() => PublicStream[])[]) {
  for (const held of holders) {
    await expect
      .poll(async () => ({ held: held(), listed: await fresh() }))
      .toSatisfy(({ held, listed }) => {
        expect(held).toEqual(listed)
        return true
      })
  }
}

test('M3: who holds the directory is told all that changes in it, on every node', heavy, async () => {
  const holders = await Promise.all(server.urls.map(holder))
  const { owner, id, stream_id } = await opened()
  const other = await opened()
  const isListed = async (one: string) => (await fresh()).some((stream) => stream.id === one)
  const steps: [act: () => unknown, isListed: boolean][] = [
    [() => owner.does('rest', streams.change, { id, action: 'go_live' }), false],
    [() => video.publish(stream_id), true],
    [() => owner.does('rest', streams.change, { id, title: 'Renamed' }), true],
    [() => other.owner.does('rest', streams.view, { id }), true],
    [() => video.interrupt(stream_id), true],
    [() => video.publish(stream_id), true],
    [() => owner.does('rest', streams.end, { id }), false],
  ]
  for (const [act, isThere] of steps) {
    await act()
    await expect.poll(() => isListed(id)).toBe(isThere)
    await agree(holders)
  }
  video.publish(other.stream_id)
  await expect.poll(() => isListed(other.id)).toBe(true)
  await agree(holders)
  await other.owner.does('rest', streams.remove, { id: other.id })
  expect(await isListed(other.id)).toBe(false)
  await agree(holders)
})

test('M3: a stream is added for who looked before, also where another was answered it first', async () => {
  const { owner, id } = await opened()
  const before = await holder(server.url)
  const now = new Date(node().now())
  const picture = { status: 'live', reason: 'live', started_at: now, is_published: true } as const
  await Streams.updateOne({ _id: id }, { $set: picture, $inc: { v: 1 } })
  const after = await holder(server.url)
  expect(after().map((stream) => stream.id)).toContain(id)
  await notifyWatchers(node(), id)
  await expect.poll(() => before().map((stream) => stream.id)).toContain(id)
  await agree([before, after])
  await owner.does('rest', streams.end, { id })
  await agree([before, after])
})

test('M3: what no row of a stream says is told as well, such as the name of its streamer', async () => {
  const held = await holder(server.url)
  const { owner, id, stream_id } = await opened(server.url)
  video.publish(stream_id)
  await expect.poll(() => held().map((stream) => stream.id)).toContain(id)
  await owner.does('rest', accounts.updateProfile, { display_name: 'Nightingale' })
  await expect.poll(() => held().map(({ streamer }) => streamer.display_name)).toContain('Nightingale')
  await agree([held])
  await owner.does('rest', streams.end, { id })
})

test('M3: whoever asks while streams begin and end holds in the end what is listed', heavy, async () => {
  const first = await holder(server.url)
  const holders = [first]
  for (let round = 0; round < 4; round++) {
    const begun = await Promise.all(Array.from({ length: 3 }, () => opened()))
    const asked = Promise.all(server.urls.flatMap((url) => [holder(url), holder(url)]))
    for (const { stream_id } of begun) video.publish(stream_id)
    const later = Promise.all(server.urls.map(holder))
    await Promise.all(begun.slice(1).map(({ owner, id }) => owner.does('rest', streams.end, { id })))
    holders.push(...(await asked), ...(await later))
  }
  await agree(holders)
})
