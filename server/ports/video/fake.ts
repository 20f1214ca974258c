import { randomUUID } from 'node:crypto'
import { AppError } from '#shared/errors'
import type { StreamStatus, Video, VideoAsset, VideoEvent } from './port.ts'

export interface FakeVideo extends Video {
  /** Whether it fails to answer. */
  away: boolean
  /** Simulates a publisher with the stream's key who starts, is lost, and stops. */
  publish(streamId: string): void
  interrupt(streamId: string): void
  stop(streamId: string): void
  /** Suppresses events of the act. */
  deaf(act: () => void): void
  /** A recording of the stream, as it is now. */
  tellAsset(asset: VideoAsset): void
}

/** A video service in memory, which shows nothing. */
export function fakeVideo(): FakeVideo {
  const streams = new Map<string, StreamStatus>()
  const recordings = new Map<string, VideoAsset>()
  const hearers = new Set<(event: VideoEvent) => void>()
  const tell = (event: VideoEvent) => {
    for (const hear of hearers) hear(event)
  }

  function become(streamId: string, state: StreamStatus['state'], type: 'started' | 'interrupted' | 'stopped'): void {
    const stream = streams.get(streamId)
    if (!stream || stream.state === state) return
    const seen = { lastSeen: new Date('2040-01-01T00:00:00Z'), bitrate: 2_000_000, dropped: 3 }
    streams.set(streamId, state === 'live' ? { state, ...seen } : { state, lastSeen: stream.lastSeen })
    tell({ type: `ingest.${type}`, streamId })
  }

  async function answer<What>(what: () => What): Promise<What> {
    if (video.away) throw new AppError('SERVICE_UNAVAILABLE')
    return what()
  }

  const video: FakeVideo = {
    away: false,
    addresses: {
      whip: (streamKey) => `http://video.test/webrtc/${streamKey}`,
      rtmp: (streamKey) => `rtmp://video.test/live/${streamKey}`,
      hls: (playbackId) => `http://video.test/hls/${playbackId}/index.m3u8`,
      whep: (playbackId) => `http://video.test/webrtc/${playbackId}`,
    },
    createStream: () =>
      answer(() => {
        const streamId = randomUUID()
        streams.set(streamId, { state: 'idle', lastSeen: null })
        return { streamId, streamKey: randomUUID().replaceAll('-', ''), playbackId: randomUUID() }
      }),
    status: (streamIds) => answer(() => new Map([...streams].filter(([streamId]) => streamIds.includes(streamId)))),
    endStream: (streamId) => answer(() => video.stop(streamId)),
    deleteStream: (streamId) =>
      answer(() => {
        video.stop(streamId)
        streams.delete(streamId)
        for (const { assetId } of [...recordings.values()].filter((asset) => asset.streamId === streamId))
          recordings.delete(assetId)
      }),
    assets: (streamId) => answer(() => [...recordings.values()].filter((asset) => asset.streamId === streamId)),
    subscribe(hear) {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
    deaf(act) {
      const all = [...hearers]
      hearers.clear()
      act()
      for (const hear of all) hearers.add(hear)
    },
    publish: (streamId) => become(streamId, 'live', 'started'),
    interrupt: (streamId) => become(streamId, 'interrupted', 'interrupted'),
    stop: (streamId) => become(streamId, 'idle', 'stopped'),
    tellAsset(asset) {
      recordings.set(asset.assetId, asset)
      tell({ type: 'asset.updated', asset })
    },
  }
  return video
}
