import { v7 as uuid } from 'uuid'
import { asAppError, isAboutSession, noAnswer, wasNotAnswered } from './failures.ts'
import type { Rest, RestCall } from './rest.ts'
import type { Session } from './session.ts'
import { type Callable, table } from './table.ts'
import { backoff, pauseFor } from './timing.ts'
import type { Transport } from './transport.ts'
import type { Calls, ClientOptions } from './types.ts'

interface Doors {
  transport: Transport
  rest: Rest
  session: Session
  mode: NonNullable<ClientOptions['transport']>
  isCut(): boolean
  /** Asks the person to sign in again; rejects where they do not. */
  readonly prove: (() => Promise<void>) | undefined
}

interface CallOptions extends Pick<RestCall, 'signal' | 'onProgress'> {
  door?: 'rest'
  /** The number of tries before an unanswered call fails. */
  tries?: number
}

/** Operations that begin, renew or end a session; they are not retried with a newer session. */
const ofSession = new Set(['identity.begin', 'identity.verify', 'identity.refresh', 'identity.logout'])

export type Call = (name: string, input: object, options?: CallOptions) => Promise<unknown>

/** Calls operations: by socket while it is connected, else by REST. A retry carries the same key, so it never acts twice. */
export function callThrough(doors: Doors): Call {
  const { transport, rest, session, mode } = doors

  return async (name, given, options = {}) => {
    const callable = table.operations[name]
    if (!callable) throw new TypeError(`No operation ${name}`)
    const input = keyed(callable, given)
    const isRepeatable = callable.key !== undefined || callable.http?.startsWith('GET ')
    const tries = options.tries ?? (isRepeatable ? 3 : 1)
    for (let failed = 0; ; failed++) {
      try {
        return await renewing(name, () => once(callable, input, options))
      } catch (error) {
        if (!wasNotAnswered(error) || failed + 1 >= tries || doors.isCut() || options.signal?.aborted) throw error
        await pauseFor(backoff(failed, 100), options.signal)
        options.signal?.throwIfAborted()
      }
    }
  }

  function once(
    { socket, http, lines }: Callable,
    input: object,
    { door, signal, onProgress }: CallOptions,
  ): Promise<unknown> {
    if (doors.isCut()) return Promise.reject(noAnswer())
    if (socket !== undefined && door !== 'rest' && transport.state === 'ready') return transport.ask(socket, input)
    if (http === undefined || (socket !== undefined && mode === 'socket')) return Promise.reject(noAnswer())
    return rest(http, input, { signal, lines, onProgress })
  }

  /** If the session has expired, it is renewed once and the call is made again. */
  async function renewing(name: string, act: () => Promise<unknown>): Promise<unknown> {
    const { token, isBegun } = session
    try {
      return await act()
    } catch (error) {
      const { code } = asAppError(error)
      if (code === 'REAUTHENTICATION_REQUIRED' && doors.prove) {
        await doors.prove()
        return act()
      }
      if (!isBegun || ofSession.has(name) || !isAboutSession(code)) throw error
      if (session.token !== token || (await session.refresh())) return act()
      session.end(code)
      throw error
    }
  }
}

const keyed = ({ key }: Callable, input: object): object => (key === undefined ? input : { [key]: uuid(), ...input })

async function* itemsOf(ask: () => Promise<unknown>): AsyncGenerator<unknown> {
  yield* (await ask()) as AsyncIterable<unknown>
}

/** `calls.rooms.get(input)`, for every operation that can be called from outside. */
export function callsOf(call: Call): Calls {
  const calls: Record<string, Record<string, (input?: object) => unknown>> = {}
  for (const name of Object.keys(table.operations)) {
    const [domain = '', operation = ''] = name.split('.')
    const ask = table.operations[name]?.stream
      ? (input = {}, options: CallOptions = {}) => itemsOf(() => call(name, input, { ...options, door: 'rest' }))
      : (input = {}, options: CallOptions = {}) => call(name, input, options)
    calls[domain] = { ...calls[domain], [operation]: ask }
  }
  return calls as unknown as Calls
}
