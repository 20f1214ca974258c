import { z } from 'zod'
import { event } from './contract.ts'
import { Time } from './primitives.ts'

/**
 * The values of `auth.protocol` in a handshake; 1 is the default. In protocol 2, room events and answers to sends leave out usual
 * and known values. Answers that are `ok` have no `meta`.
 */
export const protocols = [1, 2] as const
export type Protocol = (typeof protocols)[number]

export const sessionReady = event('* session:ready', {
  summary: 'The first event of every connection.',
  audience: 'socket',
  payload: z.object({
    protocol: z.literal(protocols),
    feature_level: z.number().int(),
    server_time: Time,
    node: z.string(),
    user: z.record(z.string(), z.unknown()).nullable(),
    session_expires_at: Time.nullable(),
    limits: z.record(z.string(), z.number()),
    degraded: z.array(z.string()),
    recovered: z.literal(false),
  }),
})

export const sessionExpiring = event('* session:expiring', {
  summary: 'The session ends soon; refresh it or sign in again.',
  audience: 'socket',
  payload: z.object({ in_s: z.number().int() }),
})

export const sessionEnded = event('* session:ended', {
  summary: 'The session is over; the connection closes now.',
  audience: 'socket',
  payload: z.object({ code: z.string() }),
})

export const serverNotice = event('* server:notice', {
  summary: 'The server is draining, degraded, or well again.',
  audience: 'socket',
  payload: z.object({
    kind: z.enum(['draining', 'degraded', 'restored']),
    detail: z.string(),
    reconnect_after_ms: z.number().int(),
  }),
})

export const streamItem = event('* stream:item', {
  summary: 'The next item of an answer that is a sequence; `stream` is what the ack named.',
  audience: 'socket',
  payload: z.object({ stream: z.string(), item: z.record(z.string(), z.unknown()) }),
})

export const streamEnd = event('* stream:end', {
  summary: 'A sequence is over: `error` says why, and is null where it came to its own end.',
  audience: 'socket',
  payload: z.object({ stream: z.string(), error: z.record(z.string(), z.unknown()).nullable() }),
})

export const connectionEvents = { sessionReady, sessionExpiring, sessionEnded, serverNotice, streamItem, streamEnd }
