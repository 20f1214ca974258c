import { z } from 'zod'
import type { Protocol } from '#shared/kit/connection'

/** The frames of one protocol over the socket. */
export interface Dialect extends Manners {
  hello(token: string): string
  join(ack: number): string
  send(ack: number, cid: string, text: string): string
  /** The prefixes of a frame with messages and of an acknowledgement. */
  heard: string
  acknowledged: string
  /** The messages of a frame, in order; with `seq` if the protocol numbers them. */
  read(frame: string): { cid: string | null; seq: number | null }[]
}

/** The differences between the servers' protocols. */
interface Manners {
  path: string
  /** The frame after which the client sends its hello; null if the client begins. */
  asked: string | null
  /** The prefixes of the answers to the hello: accepted, or refused. */
  welcomed: string
  refused: string
  ping: string
  pong: string
  /** True if one WebSocket frame holds several protocol frames, one a line. */
  hasLines: boolean
  /** Parses the rest after `acknowledged`: which send, and whether it succeeded. */
  answer(rest: string): { ack: number; isOk: boolean }
  /** The code of a refusal, anywhere in the whole frame. */
  code: RegExp
  /** What is said after somebody has joined, and in answer to other frames. */
  afterwards?(token: string): string
  reply?(frame: string): string | undefined
}

const engine: Manners = {
  path: '/socket.io/?EIO=4&transport=websocket',
  asked: '0',
  welcomed: '40',
  refused: '44',
  ping: '2',
  pong: '3',
  hasLines: false,
  answer(rest) {
    const bracket = rest.indexOf('[')
    return { ack: Number(rest.slice(0, bracket)), isOk: rest.startsWith('{"ok":true', bracket + 1) }
  },
  code: /"code":"(\w+)"/,
}

export const bareDialect = (room: string): Dialect => ({
  ...engine,
  hello: () => '40',
  join: (ack) => `42${ack}${JSON.stringify(['join', { room }])}`,
  send: (ack, cid, text) => `42${ack}${JSON.stringify(['send', { room, cid, text }])}`,
  heard: '42["message"',
  acknowledged: '43',
  read: (frame) => [
    { cid: z.tuple([z.string(), z.object({ cid: z.string() })]).parse(JSON.parse(frame.slice(2)))[1].cid, seq: null },
  ],
})

interface Event {
  seq: number
  /** Left out of messages by protocol 2. */
  type?: string
  data?: { message?: { client_msg_id: string } }
}

export const plazaDialect = (roomId: string, protocol: Protocol, type = 'channel'): Dialect => {
  const room = { type, id: roomId }
  const space = '/rooms,'
  return {
    ...engine,
    hello: (token) => `40${space}${JSON.stringify({ token, protocol })}`,
    join: (ack) => `42${space}${ack}${JSON.stringify(['room:join', { room }])}`,
    send: (ack, cid, text) => `42${space}${ack}${JSON.stringify(['message:send', { room, text, client_msg_id: cid }])}`,
    heard: `42${space}["room:event`,
    acknowledged: `43${space}`,
    read(frame) {
      const [name, payload] = JSON.parse(frame.slice(2 + space.length)) as [string, Event & { events: Event[] }]
      const events = name === 'room:events' ? payload.events : [payload]
      return events.map(({ seq, type = 'message.created', data }) => ({
        seq,
        cid: type === 'message.created' ? (data?.message?.client_msg_id ?? null) : null,
      }))
    },
  }
}

/** The chat of a livestream, whose members watch it over the same connection, are counted and get the count. */
export const streamDialect = (stream: string, protocol: Protocol): Dialect => {
  const space = '/streams,'
  return {
    ...plazaDialect(stream, protocol, 'stream'),
    afterwards: (token) => `40${space}${JSON.stringify({ token, protocol })}`,
    reply: (frame) =>
      frame.startsWith(`40${space}`)
        ? `42${space}1${JSON.stringify(['stream:watch', { stream_id: stream }])}`
        : undefined,
  }
}

const Push = z.object({
  push: z.object({ pub: z.object({ offset: z.number(), data: z.object({ cid: z.string() }) }) }),
})

/** Centrifugo's JSON protocol, with a history and so with numbers. */
export const centrifugoDialect = (channel: string): Dialect => ({
  path: '/connection/websocket',
  asked: null,
  welcomed: '{"id":1,"connect"',
  refused: '{"id":1,"error"',
  ping: '{}',
  pong: '{}',
  hasLines: true,
  answer(rest) {
    const comma = rest.indexOf(',')
    return { ack: Number(rest.slice(0, comma)) - 1, isOk: !rest.startsWith('"error"', comma + 1) }
  },
  code: /"code":(\d+)/,
  hello: () => JSON.stringify({ id: 1, connect: {} }),
  join: (ack) => JSON.stringify({ id: ack + 1, subscribe: { channel } }),
  send: (ack, cid, text) => JSON.stringify({ id: ack + 1, publish: { channel, data: { cid, text } } }),
  heard: '{"push"',
  acknowledged: '{"id":',
  read(frame) {
    const { offset, data } = Push.parse(JSON.parse(frame)).push.pub
    return [{ cid: data.cid, seq: offset }]
  },
})
