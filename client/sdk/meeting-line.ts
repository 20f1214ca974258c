import { io } from 'socket.io-client'
import type { Event } from '#shared/kit/contract'
import { noAnswer, toldError } from './failures.ts'
import { table } from './table.ts'
import type { Client, PayloadOf, Unsubscribe } from './types.ts'

type Asked = Pick<Client['meetings'], 'enter' | 'signal'>
type Ack = { ok: true; data: unknown } | { ok: false; error: { code: string; message: string } }

const ackMilliseconds = 8_000

/** A connection to `/meetings` of its own, for guests as for who is signed in: what opens a meeting is a token. It is made again where it is lost. */
export interface MeetingLine extends Asked {
  readonly isOpen: boolean
  hear<E extends Event>(event: E, listener: (payload: PayloadOf<E>) => void): Unsubscribe
  /** Calls at each connection: whoever was in a meeting enters it again. */
  whenReady(listener: () => void): Unsubscribe
  whenLost(listener: () => void): Unsubscribe
  close(): void
}

export function openMeetingLine(url: string): MeetingLine {
  const socket = io(`${url}/meetings`, { transports: ['websocket'], auth: { protocol: 2 }, forceNew: true })
  const ask = async (name: string, input: object): Promise<never> => {
    const event = table.operations[name]?.socket?.split(' ')[1] ?? ''
    const answer: Ack = await socket
      .timeout(ackMilliseconds)
      .emitWithAck(event, input)
      .catch((cause) => {
        throw noAnswer(cause)
      })
    if (answer.ok) return answer.data as never
    throw toldError(answer.error.code, { message: answer.error.message })
  }
  const on = (name: string, listener: (payload: unknown) => void): Unsubscribe => {
    socket.on(name, listener)
    return () => void socket.off(name, listener)
  }
  return {
    get isOpen() {
      return socket.connected
    },
    enter: (input) => ask('meetings.enter', input),
    signal: (input) => ask('meetings.signal', input),
    hear: ({ name }, listener) => on(name, (payload) => listener(payload as never)),
    whenReady: (listener) => on('session:ready', listener),
    whenLost: (listener) => on('disconnect', listener),
    close: () => void socket.disconnect(),
  }
}
