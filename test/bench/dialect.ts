import { z } from 'zod'
import type { Protocol } from '#shared/kit/connection'

/** What is said over the socket, frame by frame. */
export interface Dialect {
  hello(token: string): string
  join(ack: number): string
  send(ack: number, cid: string, text: string): string
  /** How a frame begins that carries messages, and one that acknowledges. */
  heard: string
  acknowledged: string
  /** The messages of a frame, in order; `seq` where they are numbered. */
  read(frame: string): { cid: string | null; seq: number | null }[]
}

export const bareDialect = (room: string): Dialect => ({
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

export const plazaDialect = (roomId: string, protocol: Protocol): Dialect => {
  const room = { type: 'channel', id: roomId }
  const space = '/rooms,'
  return {
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
