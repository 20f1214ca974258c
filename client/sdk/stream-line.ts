import { io } from 'socket.io-client'
import type { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { sessionReady } from '#shared/kit/connection'
import type { Event } from '#shared/kit/contract'
import { asAppError, isPassing, noAnswer, toldError } from './failures.ts'
import { table } from './table.ts'
import { backoff, pauseFor } from './timing.ts'
import type { Client, ClientOptions, ClientStorage, PayloadOf, Unsubscribe } from './types.ts'
import { Whole } from './whole.ts'

type Asked = Pick<Client['streams'], 'watch' | 'unwatch' | 'directory' | 'listen' | 'unlisten'>

/** How `/streams` is reached: over the connection of who is signed in, or one of a guest's own. */
export interface StreamLine extends Asked {
  hear<E extends Event>(event: E, listener: (payload: PayloadOf<E>) => void): Unsubscribe
  close(): void
}

export interface StreamOptions {
  /** The base address of the server, for guests; a page of the server's own origin needs none. */
  url?: string
  /** Where a guest's `viewer_key` is kept. */
  storage?: ClientStorage
  /** As for `createClient`, for guests: `rest` opens no socket for them. */
  transport?: ClientOptions['transport']
}

type Ack = { ok: true; data: unknown } | { ok: false; error: { code: string; message: string } }
const ackMilliseconds = 8_000
const ready = { namespace: '/streams', name: 'session:ready' } as unknown as typeof sessionReady

interface Reached extends StreamLine {
  /** Whether it can be asked now. */
  readonly isOpen: boolean
  /** Calls when it is known that the socket does not open for now. */
  whenAway(listener: () => void): Unsubscribe
}

/** A socket that has not said anything for so long is not waited for. */
const patienceMilliseconds = 2_000

/**
 * Calls `begin` with the line, at each connection and whenever another account has signed in, and `withoutLine` while there is no socket; what
 * they return ends that.
 */
export function onEachLine(
  client: Client,
  { url, transport }: { url: string; transport?: StreamOptions['transport'] },
  begin: (line: StreamLine) => Unsubscribe,
  withoutLine: () => Unsubscribe,
): Unsubscribe {
  let { account } = client
  let end = start()

  function start(): Unsubscribe {
    const line = account !== null ? memberLine(client) : transport === 'rest' ? noLine : guestLine(url)
    let isAlone = false
    let stop = () => {}
    const beAlone = () => {
      if (isAlone) return
      isAlone = true
      clearTimeout(patience)
      stop()
      stop = withoutLine()
    }
    const meet = () => {
      isAlone = false
      clearTimeout(patience)
      stop()
      stop = begin(line)
    }
    const patience = setTimeout(beAlone, patienceMilliseconds)
    const unhear = [line.hear(ready, meet), line.whenAway(beAlone)]
    if (line.isOpen) meet()
    return () => {
      clearTimeout(patience)
      for (const leave of unhear) leave()
      stop()
      line.close()
    }
  }

  const unsubscribe = client.session.subscribe(() => {
    if (isSameAccount(client.account, account)) return
    end()
    account = client.account
    end = start()
  })
  return () => {
    unsubscribe()
    end()
  }
}

const memberLine = (client: Client): Reached => ({
  get isOpen() {
    return client.connection.state === 'online'
  },
  watch: (input) => client.streams.watch(input),
  unwatch: (input) => client.streams.unwatch(input),
  directory: (input) => client.streams.directory(input),
  listen: (input) => client.streams.listen(input),
  unlisten: (input) => client.streams.unlisten(input),
  hear: (event, listener) => client.on(event, listener),
  whenAway(listener) {
    const look = () => {
      const { state } = client.connection
      if (state === 'rest' || state === 'offline') listener()
    }
    look()
    return client.connection.subscribe(look)
  },
  close: () => {},
})

function guestLine(url: string): Reached {
  const socket = io(`${url}/streams`, { transports: ['websocket'], auth: { protocol: 2 }, forceNew: true })
  const whole = new Whole()
  socket.on(ready.name, ({ protocol }: { protocol: number }) => whole.begin(protocol))
  const ask = async (name: string, input: object = {}): Promise<never> => {
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
  return {
    isOpen: false,
    watch: (input) => ask('streams.watch', input),
    unwatch: (input) => ask('streams.unwatch', input),
    directory: (input) => ask('streams.directory', input),
    listen: (input) => ask('streams.listen', input),
    unlisten: (input) => ask('streams.unlisten', input),
    hear({ name }, listener) {
      const hears = (payload: unknown) => listener(whole.payload(name, payload) as never)
      socket.on(name, hears)
      return () => void socket.off(name, hears)
    },
    whenAway(listener) {
      socket.on('connect_error', listener)
      return () => void socket.off('connect_error', listener)
    },
    close: () => void setTimeout(() => socket.disconnect(), closeMilliseconds),
  }
}

/** Time to say that nothing is watched any more. */
const closeMilliseconds = 200

const unreachable = () => Promise.reject(noAnswer())

/** Of guests who want no socket. */
const noLine: Reached = {
  isOpen: false,
  watch: unreachable,
  unwatch: unreachable,
  directory: unreachable,
  listen: unreachable,
  unlisten: unreachable,
  hear: () => () => {},
  whenAway(listener) {
    const timer = setTimeout(listener)
    return () => clearTimeout(timer)
  },
  close: () => {},
}

/** Asks again until it is answered, or refused for good. */
export async function untilAnswered(
  ask: () => Promise<void>,
  signal: AbortSignal,
  failed: (error: AppError) => void,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await ask()
    } catch (cause) {
      const error = asAppError(cause)
      if (signal.aborted) return
      failed(error)
      if (!isPassing(error)) return
      await pauseFor((error.retryAfter ?? 0) * 1_000 + backoff(failures), signal)
    }
  }
}

/** Asks every so often while the page is seen, at once when it is seen again, and later where the server says so; until what is returned is called. */
export function everySo(
  milliseconds: number,
  ask: () => Promise<void>,
  failed: (error: AppError) => void,
): Unsubscribe {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isAsking = false
  let isOver = false
  const isHidden = () => typeof document !== 'undefined' && document.hidden
  const run = async () => {
    if (isOver || isAsking || isHidden()) return
    clearTimeout(timer)
    isAsking = true
    let wait = milliseconds
    await ask().catch((cause) => {
      const error = asAppError(cause)
      wait = Math.max(wait, (error.retryAfter ?? 0) * 1_000)
      if (!isOver) failed(error)
    })
    isAsking = false
    if (!isOver) timer = setTimeout(run, wait)
  }
  const look = () => void run()
  if (typeof document !== 'undefined') document.addEventListener('visibilitychange', look)
  void run()
  return () => {
    isOver = true
    clearTimeout(timer)
    if (typeof document !== 'undefined') document.removeEventListener('visibilitychange', look)
  }
}
