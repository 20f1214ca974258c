// Modes: embedded
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Streams } from '#server/domains/streams/streams/model'
import { type FakeVideo, fakeVideo } from '#server/ports/video/fake'
import { streams } from '#shared/api/streams/streams'
import { boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { person } from '#test/support/people'
import { call } from '#test/support/wallet'

/** A provider that knows no stream, and one that does not answer yet. */
const unknowing = (): FakeVideo => fakeVideo()
const starting = (): FakeVideo => Object.assign(fakeVideo(), { away: true })

const ended = { status: 'ended', reason: 'connection_lost', is_live: false }

test.each<[string, () => FakeVideo | null]>([
  ['whose provider knows no stream', unknowing],
  ['without a provider', () => null],
])('O42: a start on a backup %s ends what was live', heavy, async (_title, provider) => {
  const { again, id } = await restored(provider())
  const shown = async () => (await call(again.url, `GET /api/public/streams/${id}`)).body.stream
  await expect.poll(shown).toMatchObject(ended)
})

test('O42: while its provider has not answered yet, what a backup holds is not shown as live', heavy, async () => {
  const { again, id } = await restored(starting())
  const { stream } = (await call(again.url, `GET /api/public/streams/${id}`)).body
  expect(stream).toMatchObject({ is_live: false })
})

test('O42: what was live is ended as soon as its provider answers, before it is looked at again', heavy, async () => {
  const provider = starting()
  const looks = vi.spyOn(provider, 'status')
  const { again, id } = await restored(provider)
  await expect.poll(() => looks.mock.calls.some(([ids]) => ids.length > 0)).toBe(true)
  provider.away = false
  const shown = async () => (await call(again.url, `GET /api/public/streams/${id}`)).body.stream
  // Streams are looked at every five seconds.
  await expect.poll(shown, { timeout: 4_000 }).toMatchObject(ended)
})

/** A server on the data of another, in which somebody was live an hour ago. */
async function restored(provider: FakeVideo | null) {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-restored-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const environment = { DATA_DIR: directory }
  const video = fakeVideo()
  const server = await boot({ environment, services: { video } })
  const owner = await person(server, 'streamer')
  const { stream } = await owner.does('rest', streams.create, {})
  video.publish(stream.stream_id)
  await expect.poll(async () => (await Streams.findOne({ _id: stream.id }).lean())?.is_published).toBe(true)
  const ago = (milliseconds: number) => new Date(Date.now() - milliseconds)
  await Streams.updateOne({ _id: stream.id }, { $set: { started_at: ago(3_600_000), seen_at: ago(3_500_000) } })
  await server.close()
  const again = await boot({ environment, services: { video: provider } })
  onTestFinished(() => again.close())
  return { again, id: stream.id }
}
