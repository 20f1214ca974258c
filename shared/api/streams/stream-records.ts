import { z } from 'zod'
import { Link, Time } from '#shared/kit/primitives'

export const streamStatuses = ['idle', 'live', 'ended'] as const
/**
 * The reason of a stream's state. `waiting`: no picture yet. `interrupted`: the picture may return until `grace_until`.
 * `no_picture`: reported as live, but without a picture. The others are ends: by the owner, a moderator or the publisher, by a
 * lasting interruption, or without any publication.
 */
const streamReasons = [
  'waiting',
  'live',
  'interrupted',
  'no_picture',
  'ended_by_owner',
  'ended_by_moderator',
  'publisher_stopped',
  'connection_lost',
  'never_published',
] as const

const state = {
  status: z.enum(streamStatuses),
  /** Whether it is shown as live: from its first picture on. After 60 seconds the provider must have a picture. */
  is_live: z.boolean(),
  reason: z.enum(streamReasons),
  started_at: Time.nullable(),
  ended_at: Time.nullable(),
  /** Until when a picture that is away is waited for. */
  grace_until: Time.nullable(),
}

export const StreamState = z.object({ stream_id: z.string(), v: z.number().int(), title: z.string(), ...state })
export type StreamState = z.infer<typeof StreamState>

export const StreamCounts = z.object({
  stream_id: z.string(),
  /** Grows with each count that differs; the highest holds. */
  v: z.number().int(),
  /** People who watch now, each once, however many tabs and devices they have. */
  viewers: z.number().int().min(0),
  peak: z.number().int().min(0),
  /** Everybody who has watched, each once. */
  unique: z.number().int().min(0),
  as_of: Time,
  /** So long somebody is counted who asked over REST alone and did not say that they left. */
  window_s: z.number().int(),
  /** By a connection that is open, and by REST alone. */
  sources: z.object({ sockets: z.number().int().min(0), rest: z.number().int().min(0) }),
})
export type StreamCounts = z.infer<typeof StreamCounts>

const Streamer = z.object({
  address: z.string(),
  display_name: z.string().nullable(),
  avatar_url: Link.nullable(),
})

const shown = {
  id: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  ...state,
  viewer_count: z.number().int().min(0),
  peak_viewers: z.number().int().min(0),
  unique_viewers: z.number().int().min(0),
  /** HLS. */
  playback_url: Link,
  /** WebRTC, which is sooner; it answers 406 where the source cannot be shown so. */
  whep_url: Link.nullable(),
  created_at: Time,
}

/** A stream as everybody sees it: nothing by which it is published. */
export const PublicStream = z.object({ ...shown, playback_id: z.string(), streamer: Streamer })
export type PublicStream = z.infer<typeof PublicStream>

export const Stream = z.object({
  ...shown,
  user_address: z.string(),
  /** At the provider. */
  stream_id: z.string(),
  playback_id: z.string(),
  /** Whether each time that it is published becomes a recording. */
  record: z.boolean(),
  streamer: Streamer,
  /** Of its owner alone: who has it publishes. */
  stream_key: z.string().optional(),
  ingest_url: Link.optional(),
  rtmp_url: Link.optional(),
})
export type Stream = z.infer<typeof Stream>

export const StreamAsset = z.object({
  id: z.string(),
  stream_id: z.string(),
  asset_id: z.string(),
  playback_id: z.string().nullable(),
  playback_url: Link.nullable(),
  download_url: Link.nullable(),
  status: z.object({
    phase: z.enum(['waiting', 'processing', 'ready', 'failed']),
    /** From 0 to 1. */
    progress: z.number(),
    error: z.string().nullable(),
  }),
  duration_seconds: z.number().nullable(),
  size_bytes: z.number().nullable(),
  /** When its first picture was seen, by which chat is shown beside it. */
  recorded_from: Time,
  created_at: Time,
})
export type StreamAsset = z.infer<typeof StreamAsset>

export const StreamChatMessage = z.object({
  id: z.string(),
  /** What a page is read on by: `before_seq`, `after_seq`. */
  seq: z.number().int(),
  stream_id: z.string(),
  user_address: z.string(),
  message: z.string(),
  /** The same as `message`. */
  content: z.string(),
  /** `reaction`: nothing but an emoji. */
  type: z.enum(['message', 'reaction']),
  created_at: Time,
  user: z
    .object({
      username: z.string().nullable(),
      display_name: z.string().nullable(),
      ens_name: z.string().nullable(),
      avatar_url: Link.nullable(),
    })
    .nullable(),
})
export type StreamChatMessage = z.infer<typeof StreamChatMessage>
