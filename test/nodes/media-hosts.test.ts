import mongoose from 'mongoose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mediaHosts } from '#server/ports/database/media-hosts'
import { freshDatabaseUri } from '#test/support/test-servers'

beforeAll(() => mongoose.connect(freshDatabaseUri() ?? ''))
afterAll(() => mongoose.disconnect())

test('nodes with livestreams find each other in the database, those that were there lately alone', async () => {
  const hosts = mediaHosts()
  const [one, other] = ['0a0b0c0d', '1a1b1c1d'].map((id) => ({
    id,
    url: `http://${id}.test`,
    isNamed: true,
    rtmpUrl: 'rtmp://x.test',
    signsBodies: true,
  }))
  if (!one || !other) throw new Error('There are two')
  await hosts.tell(one)
  await hosts.tell(other)
  expect(await hosts.live()).toEqual([one, other])
  const rows = mongoose.connection.db?.collection('media_hosts')
  await rows?.updateOne({ url: other.url }, { $set: { seen_at: new Date(Date.now() - 11_000) } })
  expect(await hosts.live()).toEqual([one])
  await hosts.tell(other)
  expect(await hosts.live()).toEqual([one, other])
  await hosts.forget(one)
  expect(await hosts.live()).toEqual([other])
})

test('a stream is at one host, and whoever looks for it finds it until it has ended', async () => {
  const hosts = mediaHosts()
  const stream = { streamId: 's', playbackId: 'p', digest: 'd', record: true, host: 'a', isOpen: true }
  await hosts.keep(stream)
  for (const [name, digest] of [
    ['s', ''],
    ['p', ''],
    ['key', 'd'],
  ] as const)
    expect(await hosts.find(name, digest)).toEqual(stream)
  expect([await hosts.find('key', ''), await hosts.moved()]).toEqual([null, []])
  await Promise.all([hosts.move('s', 'a', 'b'), hosts.move('s', 'a', 'c'), hosts.move('s', 'x', 'y')])
  const [moved] = await hosts.moved()
  expect(['b', 'c']).toContain(moved?.host)
  await hosts.end('s')
  await hosts.move('s', moved?.host ?? '', 'd')
  expect(await hosts.find('s', 'd')).toBeNull()
  expect(await hosts.moved()).toEqual([{ ...stream, host: moved?.host, isOpen: false }])
})
