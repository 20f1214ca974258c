import type { NewStream, VideoAsset, VideoEvent } from '#server/ports/video/port'
import type { PeerSettings } from './peer.ts'

export interface EngineSettings {
  /** What all ids that are made here, and keys, begin with. */
  host: string
  directory: string
  /** Players reach it through the server, so it listens on this machine alone; 0 takes any port that is free. */
  httpPort: number
  rtmpHost: string
  rtmpPort: number
  partMs: number
  segmentMs: number
  graceMs: number
  peers: PeerSettings
  /** Whether the sound of browsers becomes AAC, which players of Apple want: twice the work of a stream. */
  aac: boolean
  mostIngests: number
  /** By WebRTC. */
  mostViewers: number
  /** The engine ends itself where it takes more. */
  memoryMb: number
}

/** A recording in the engine, without its URL. */
export type RecordedAsset = Omit<VideoAsset, 'playbackId' | 'playbackUrl' | 'downloadUrl'>

/** Is there a file of it? Also of one that has failed, of what was written before. */
export const isPlayable = ({ phase, sizeBytes }: Pick<RecordedAsset, 'phase' | 'sizeBytes'>): boolean =>
  phase === 'ready' || (phase === 'failed' && typeof sizeBytes === 'number')

export type EngineEvent =
  | Exclude<VideoEvent, { type: 'asset.updated' }>
  | { type: 'asset.updated'; asset: RecordedAsset }

export type EngineRequest =
  | { ask: 'createStream'; stream: Pick<NewStream, 'record'> }
  | { ask: 'adoptStream'; stream: { streamId: string; playbackId: string; digest: string; record: boolean } }
  | { ask: 'status'; streamIds: readonly string[] }
  | { ask: 'endStream'; streamId: string; isShown: boolean }
  | { ask: 'deleteStream' | 'assets' | 'publishClock'; streamId: string }

/** Streams in `expected` were live when the engine before ended, whatever it had written of them. */
export type ToEngine =
  | { start: EngineSettings; expected: readonly string[] }
  | ({ id: number } & EngineRequest)
  | { close: true }

export interface Ports {
  http: number
  /** Null while another has the port. */
  rtmp: number | null
}

export type FromEngine =
  | { ready: Ports; problem: string | null }
  | { cannotStart: string }
  | { id: number; answer: unknown }
  | { id: number; failed: string }
  | { event: EngineEvent }
  | { alive: true }
