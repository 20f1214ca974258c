import { z } from 'zod'
import { LeanBatch, LeanEvent, RoomEvent, roomEventBatch } from '#shared/api/rooms/room-events'
import { event } from '#shared/kit/contract'
import { Time } from '#shared/kit/primitives'
import { PublicStream, StreamAsset, StreamCounts, StreamState } from './stream-records.ts'

export const streamStateChanged = event('/streams stream:state', {
  summary: 'A stream you watch or own stands otherwise; the highest `v` holds.',
  audience: 'stream',
  payload: StreamState,
})
export const streamCounted = event('/streams stream:counts', {
  summary: 'How many watch: at once where it changes, at most once a second, and every 15 seconds anyway.',
  audience: 'stream',
  payload: StreamCounts,
})
export const streamAssetChanged = event('/streams stream:asset', {
  summary: 'A recording of a stream you watch is waited for, being made, ready, or failed.',
  audience: 'stream',
  payload: z.object({ stream_id: z.string(), asset: StreamAsset }),
})
export const streamListed = event('/streams stream:listed', {
  summary:
    'Of the directory: streams that are live now and were not (`added`), these and others that stand or are counted otherwise (`updated`), and the ids of those that are live no more.',
  audience: 'stream',
  payload: z.object({
    added: z.array(PublicStream),
    updated: z.array(PublicStream),
    removed: z.array(z.string()),
  }),
})
export const streamHealth = event('/streams stream:health', {
  summary:
    'Of a stream of yours that is live, every five seconds: when its picture was last seen, and how it comes in.',
  audience: 'account',
  payload: z.object({
    stream_id: z.string(),
    last_ingest_at: Time.nullable(),
    is_published: z.boolean(),
    /** Bits a second, lately. */
    bitrate: z.number().int().min(0).optional(),
    /** Pictures that could not be used since it was published, as parts of them were lost. */
    dropped: z.number().int().min(0).optional(),
  }),
})
export const streamRoomEvent = event('/streams room:event', {
  summary:
    'Something happened in the chat of a stream that this connection listens to, as those outside the room are told it. Apply only the seq after the last one applied.',
  audience: 'room',
  payload: RoomEvent,
  lean: LeanEvent,
})
export const streamRoomEvents = event('/streams room:events', {
  summary: 'Several of these, in order, in one frame.',
  audience: 'room',
  payload: roomEventBatch.payload,
  lean: LeanBatch,
})
export const streamChatClosed = event('/streams stream:chat_closed', {
  summary: 'You may read the chat of a stream no more, and are told nothing of it from here on; `code` says why.',
  audience: 'socket',
  payload: z.object({ stream_id: z.string(), code: z.string() }),
})
export const streamEvents = {
  streamStateChanged,
  streamCounted,
  streamAssetChanged,
  streamListed,
  streamHealth,
  streamRoomEvent,
  streamRoomEvents,
  streamChatClosed,
}
