import { beforeEach, describe, expect, test } from 'vitest'
import { createStream, type Stream } from '#server/media/stream'
import { fakeClock } from './fake-clock.ts'
import { begun, pictures, sounds, tone } from './pictures.ts'

let clock = fakeClock()
let told: string[] = []
let stopped: string[] = []
const open = (wasLive = false): Stream =>
  createStream({
    partMs: 330,
    segmentMs: 1000,
    graceMs: 30_000,
    clock,
    wall: () => begun + clock.now(),
    wasLive,
    record: null,
    tell: (what) => told.push(what),
  })
beforeEach(() => {
  clock = fakeClock()
  told = []
  stopped = []
})

function publish(stream: Stream, name = 'one') {
  const publisher = stream.publish(() => stopped.push(name))
  const { config, frames } = pictures(40)
  let sent = 0
  return {
    ...publisher,
    /** As many pictures, ten a second. */
    show(count: number) {
      if (sent === 0) publisher.configure({ video: config, audio: tone })
      for (const frame of frames.slice(sent, sent + count)) {
        publisher.video(frame)
        clock.pass(100)
      }
      sent += count
    },
  }
}
const playlist = async (stream: Stream) => {
  const answer = await stream.live()?.playlist()
  return answer?.status === 200 ? answer.text : ''
}

describe('a livestream', () => {
  test('is live with its first picture that can be shown, not with the connection', () => {
    const stream = open()
    const publisher = publish(stream)
    expect([told, stream.status()]).toEqual([[], { state: 'idle', lastSeen: null }])
    publisher.show(1)
    expect(told).toEqual(['started'])
    expect(stream.status()).toEqual({ state: 'live', lastSeen: new Date(begun) })
  })

  test('stops at once where the publisher means it, and its end is told to players', async () => {
    const stream = open()
    const publisher = publish(stream)
    publisher.show(12)
    publisher.end(true)
    expect(told).toEqual(['started', 'stopped'])
    clock.pass(2_500)
    expect(await playlist(stream)).toContain('#EXT-X-ENDLIST')
    clock.pass(60_000)
    expect(stream.live()).toBeNull()
  })

  test('that is lost is interrupted, and stops where nobody comes back within the grace', async () => {
    const stream = open()
    const publisher = publish(stream)
    publisher.show(12)
    publisher.end(false)
    expect(told).toEqual(['started', 'interrupted'])
    clock.pass(29_999)
    expect(await playlist(stream)).not.toContain('#EXT-X-ENDLIST')
    expect(stream.status().state).toBe('interrupted')
    clock.pass(1)
    expect(told).toEqual(['started', 'interrupted', 'stopped'])
  })

  test('goes on where somebody comes back with the key in time', async () => {
    const stream = open()
    const publisher = publish(stream)
    publisher.show(12)
    publisher.end(false)
    clock.pass(29_000)
    const again = publish(stream)
    clock.pass(500)
    again.show(12)
    clock.pass(5_000)
    expect(told).toEqual(['started', 'interrupted', 'started'])
    expect(await playlist(stream)).toContain('#EXT-X-DISCONTINUITY\n')
  })

  test('is interrupted after 10 seconds without anything, and live when it goes on', () => {
    const stream = open()
    const publisher = publish(stream)
    publisher.show(10)
    clock.pass(9_899)
    expect(told).toEqual(['started'])
    clock.pass(1)
    expect(told).toEqual(['started', 'interrupted'])
    publisher.show(1)
    expect(told).toEqual(['started', 'interrupted', 'started'])
    expect(stopped).toEqual([])
  })

  test('whose publisher stays silent through the grace is ended, with the connection', () => {
    const stream = open()
    publish(stream).show(1)
    clock.pass(41_000)
    expect([told, stopped]).toEqual([['started', 'interrupted', 'stopped'], ['one']])
  })

  test('is of the last who came with the key', async () => {
    const stream = open()
    const first = publish(stream)
    first.show(12)
    const second = publish(stream, 'two')
    second.show(12)
    first.show(12)
    first.end(true)
    expect([told, stopped]).toEqual([['started'], ['one']])
    expect((await playlist(stream)).match(/EXT-X-MAP/g)).toHaveLength(2)
  })

  test('that was live when the engine ended is waited for', () => {
    const stream = open(true)
    expect(told).toEqual(['interrupted'])
    clock.pass(20_000)
    publish(stream).show(1)
    clock.pass(9_000)
    expect(told).toEqual(['interrupted', 'started'])
  })

  test('ends when it is told to, with the connection', () => {
    const stream = open()
    const publisher = publish(stream)
    publisher.show(5)
    stream.end()
    publisher.show(5)
    expect([told, stopped]).toEqual([['started', 'stopped'], ['one']])
  })

  test('that nobody ever saw begins and ends without a word', () => {
    const stream = open()
    publish(stream).end(false)
    publish(stream).end(true)
    stream.end()
    clock.pass(100_000)
    expect(told).toEqual([])
  })

  test('nobody holds it who shows nothing', () => {
    const stream = open()
    publish(stream)
    clock.pass(29_999)
    expect([stream.isPublished(), stopped]).toEqual([true, []])
    clock.pass(1)
    expect([stream.isPublished(), stopped, told]).toEqual([false, ['one'], []])
  })

  test('of sound alone is live too', () => {
    const publisher = open().publish(() => undefined)
    publisher.configure({ audio: tone })
    for (const one of sounds(100)) publisher.audio(one)
    expect(told).toEqual(['started'])
  })
})
