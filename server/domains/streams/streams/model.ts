import { Schema } from 'mongoose'
import { later, moment, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { StreamState } from '#shared/api/streams/stream-records'

export interface StoredStream {
  _id: string
  user_address: string
  /** At the provider. */
  stream_id: string
  playback_id: string
  /** Sealed; bound to the stream. */
  stream_key: string
  title: string
  description: string | null
  record: boolean
  status: StreamState['status']
  reason: StreamState['reason']
  /** The version of the state. */
  v: number
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
  grace_until: Date | null
  /** Whether a picture has arrived since the owner last went live. */
  is_published: boolean
  /** When the provider last reported a picture. */
  seen_at: Date | null
  viewer_count: number
  socket_viewers: number
  peak_viewers: number
  unique_viewers: number
  counts_v: number
  /** The version of the recordings. */
  assets_v: number
  counted_at: Date
}

const flag = { type: Boolean, required: true } as const
const count = { type: Number, default: 0 } as const

export const Streams = defineModel<StoredStream>(
  'Streams',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'streams', secret: ['stream_key'] },
  new Schema<StoredStream>(
    {
      _id: required,
      user_address: required,
      stream_id: required,
      playback_id: required,
      stream_key: required,
      title: required,
      description: optional,
      record: flag,
      status: required,
      reason: required,
      v: count,
      created_at: moment,
      started_at: later,
      ended_at: later,
      grace_until: later,
      is_published: flag,
      seen_at: later,
      viewer_count: count,
      socket_viewers: count,
      peak_viewers: count,
      unique_viewers: count,
      counts_v: count,
      assets_v: count,
      counted_at: moment,
    },
    { collection: 'streams', versionKey: false },
  )
    .index({ status: 1, created_at: -1 })
    .index({ user_address: 1, created_at: -1 })
    .index({ stream_id: 1 }),
)

/** The open stream of an account; `_id` is the account, so that there is one. */
export const OpenStreams = defineModel<{ _id: string; stream: string; at: Date }>(
  'OpenStreams',
  { shares: [{ owner: '_id', becomes: 'erase' }], archive: { never: 'It names the stream, which the archive has.' } },
  new Schema({ _id: required, stream: required, at: moment }, { collection: 'open_streams', versionKey: false }),
)

export interface StoredAsset {
  /** At the provider. */
  _id: string
  stream: string
  playback_id: string | null
  playback_url: string | null
  download_url: string | null
  phase: 'waiting' | 'processing' | 'ready' | 'failed'
  progress: number
  /** The progress as a number that never decreases. */
  rank: number
  error: string | null
  duration_seconds: number | null
  size_bytes: number | null
  recorded_from: Date
  created_at: Date
}

const figure = { type: Number, default: null } as const

export const StreamAssets = defineModel<StoredAsset>(
  'StreamAssets',
  { shares: [{ owner: 'stream', becomes: 'erase', through: 'Streams' }], archive: 'streams' },
  new Schema<StoredAsset>(
    {
      _id: required,
      stream: required,
      playback_id: optional,
      playback_url: optional,
      download_url: optional,
      phase: required,
      progress: count,
      rank: count,
      error: optional,
      duration_seconds: figure,
      size_bytes: figure,
      recorded_from: moment,
      created_at: moment,
    },
    { collection: 'stream_assets', versionKey: false },
  ).index({ stream: 1, recorded_from: 1 }),
)

/** A viewer, once per stream (`_id`). They watch while a live node holds a connection of theirs, or until `until` over REST. */
interface StoredViewer {
  _id: string
  stream: string
  nodes: string[]
  until: Date | null
  first_at: Date
  /** The viewer is above the cap of new guests of their address, and does not count as unique. */
  beyond?: true
  /** When the stream ended; the row is then removed, and the counts stay. */
  gone_at?: Date
}

export const Viewers = defineModel<StoredViewer>(
  'StreamViewers',
  {
    shares: [{ owner: '_id', becomes: 'erase', at: 'last word' }],
    archive: { never: 'It lapses ten minutes after the stream.' },
  },
  new Schema<StoredViewer>(
    {
      _id: required,
      stream: required,
      nodes: { type: [String], default: [] },
      until: later,
      first_at: moment,
      beyond: Boolean,
      gone_at: Date,
    },
    { collection: 'stream_viewers', versionKey: false },
  )
    .index({ gone_at: 1 }, { expireAfterSeconds: 600 })
    .index({ stream: 1, nodes: 1 })
    .index({ stream: 1, until: 1 })
    .index({ stream: 1, beyond: 1 }, { partialFilterExpression: { beyond: true } }),
)
