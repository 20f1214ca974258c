import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { CreatedStream, Video, VideoEvent } from '#server/ports/video/port'

export interface Publisher {
  /** Means to stop. */
  stop(): void
  /** Goes away without a word. */
  lose(): void
}

/** An adapter, and the controls of its publisher. */
export interface VideoSubject {
  video: Video
  publish(stream: CreatedStream): Promise<Publisher>
  close?(): Promise<void>
  /** Of keys that a provider makes. */
  shortestKey?: number
}

/** What every adapter of livestreams keeps. */
export function keepsVideoContract(name: string, make: () => Promise<VideoSubject>): void {
  describe(`livestreams ${name}`, () => {
    let subject: VideoSubject
    let video: Video
    const ended: (() => void)[] = []
    beforeAll(async () => {
      subject = await make()
      video = subject.video
    })
    afterEach(() => {
      for (const end of ended.splice(0)) end()
    })
    afterAll(() => subject.close?.())

    function follow(streamId: string) {
      const told: string[] = []
      ended.push(
        video.subscribe((event: VideoEvent) => {
          if (event.type !== 'asset.updated' && event.streamId === streamId) told.push(event.type)
        }),
      )
      return told
    }
    const stateOf = async (streamId: string) => (await video.status([streamId])).get(streamId)?.state

    test('a new one is idle, with a key and a name of its own for those who watch', async () => {
      const [one, other] = [
        await video.createStream({ name: 'test', record: false }),
        await video.createStream({ name: 'test', record: false }),
      ]
      expect(new Set([...Object.values(one), ...Object.values(other)]).size).toBe(6)
      expect(one.streamKey.replace(/^[0-9a-f]{8}-/, '').length).toBeGreaterThanOrEqual(subject.shortestKey ?? 32)
      expect(await video.status([one.streamId, 'unknown'])).toEqual(
        new Map([[one.streamId, { state: 'idle', lastSeen: null }]]),
      )
      expect(await video.assets(one.streamId)).toEqual([])
    })

    test('it starts with who publishes, and stops with them', async () => {
      const stream = await video.createStream({ name: 'test', record: false })
      const told = follow(stream.streamId)
      const publisher = await subject.publish(stream)
      await expect.poll(() => told).toEqual(['ingest.started'])
      expect((await video.status([stream.streamId])).get(stream.streamId)).toMatchObject({
        state: 'live',
        lastSeen: expect.any(Date),
      })
      publisher.stop()
      await expect.poll(() => told).toEqual(['ingest.started', 'ingest.stopped'])
      expect(await stateOf(stream.streamId)).toBe('idle')
    })

    test('who is lost may come back', async () => {
      const stream = await video.createStream({ name: 'test', record: false })
      const told = follow(stream.streamId)
      const publisher = await subject.publish(stream)
      await expect.poll(() => told).toEqual(['ingest.started'])
      publisher.lose()
      await expect.poll(() => told).toEqual(['ingest.started', 'ingest.interrupted'])
      expect(await stateOf(stream.streamId)).toBe('interrupted')
      await subject.publish(stream)
      await expect.poll(() => told).toEqual(['ingest.started', 'ingest.interrupted', 'ingest.started'])
    })

    test('it can be ended, and is forgotten when it is deleted', async () => {
      const stream = await video.createStream({ name: 'test', record: false })
      const told = follow(stream.streamId)
      await subject.publish(stream)
      await expect.poll(() => told).toEqual(['ingest.started'])
      await video.endStream(stream.streamId)
      await expect.poll(() => told).toEqual(['ingest.started', 'ingest.stopped'])
      await video.deleteStream(stream.streamId)
      expect(await video.status([stream.streamId])).toEqual(new Map())
      await video.deleteStream(stream.streamId)
      await video.endStream(stream.streamId)
    })
  })
}
