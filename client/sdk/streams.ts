import type { streamHealth } from '#shared/api/streams/stream-events'
import type { PublicStream, StreamAsset, StreamCounts, StreamState } from '#shared/api/streams/stream-records'
import type { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'
import { type Observable, observable } from './observable.ts'
import { defaultStorage, readStored, writeStored } from './storage.ts'
import { type FollowedChat, followChat, type StreamChat } from './stream-chat.ts'
import { everySo, onEachLine, type StreamLine, type StreamOptions, untilAnswered } from './stream-line.ts'
import { table } from './table.ts'
import type { Client, Listener, PayloadOf, Unsubscribe } from './types.ts'

export type { StreamChat, StreamChatView } from './stream-chat.ts'
export type { StreamOptions } from './stream-line.ts'

/** The number of viewers. Without a socket it is not split by door. */
export type StreamCount = Omit<StreamCounts, 'sources' | 'window_s'> &
  Partial<Pick<StreamCounts, 'sources' | 'window_s'>>
/** When the picture of a stream was last seen, and whether it arrives. */
export type StreamHealth = Omit<PayloadOf<typeof streamHealth>, 'stream_id'>

/** The present state of a stream; null is what the server has not sent yet. */
export interface StreamView {
  /** Why it cannot be watched: there is none, or the server does not answer at the moment. */
  readonly error: AppError | null
  readonly stream: PublicStream | null
  readonly state: StreamState | null
  readonly counts: StreamCount | null
  /** Only its owner gets it, over a socket and while it is live; null otherwise. */
  readonly health: StreamHealth | null
  /** Its recordings, oldest first. */
  readonly assets: readonly StreamAsset[]
  /** Where its messages are. */
  readonly room: RoomRef
}

/** A stream that is watched, and counted as watched, until it is closed. Usable with `useSyncExternalStore`. */
export interface LiveStream {
  readonly id: string
  readonly state: StreamView
  subscribe(listener: Listener): Unsubscribe
  close(): void
}

/** Who is live, by viewers. */
export interface LiveNow {
  readonly state: { readonly error: AppError | null; readonly streams: readonly PublicStream[] | null }
  subscribe(listener: Listener): Unsubscribe
  close(): void
}

export interface LiveStreams {
  open(id: string): LiveStream
  /** The chat of a stream, for who is not in its room. Whoever reads it watches the stream as well. */
  readChat(id: string): StreamChat
  liveNow(): LiveNow
}

const { events } = table
const keyName = 'plaza.viewer'
/** Without a socket it is asked so often how a stream stands, and said that it is watched. */
const pollMilliseconds = 4_000
/** Of the list, which each open page of a guest asks for. */
const listMilliseconds = 10_000
const sayMilliseconds = 60_000
/** A socket that comes back sooner counts its viewer once: over REST guests are distinguished by something else. */
const firstSayMilliseconds = 8_000

const known = new WeakMap<Client, LiveStreams>()

/** Livestreams, for who is signed in and for guests. They are apart from the client, so that a page may load them when somebody asks. */
export function streamsOf(client: Client, options: StreamOptions = {}): LiveStreams {
  const streams = known.get(client) ?? follow(client, options)
  known.set(client, streams)
  return streams
}

interface Watched {
  view: Observable<StreamView>
  /** How often it is open. */
  times: number
  chat(): FollowedChat
  /** How often its chat is open. */
  readers: number
  leaveChat: Unsubscribe
  end: Unsubscribe
}
/** What is closed and opened again within this time was watched all along. */
const leaveMilliseconds = 1_000

function follow(client: Client, options: StreamOptions): LiveStreams {
  const {
    url = typeof location === 'undefined' ? '' : location.origin,
    storage = defaultStorage(),
    transport,
  } = options
  const watched = new Map<string, Watched>()
  const onEach = (begin: (line: StreamLine) => Unsubscribe, withoutLine: () => Unsubscribe) =>
    onEachLine(client, { url, transport }, begin, withoutLine)

  function watch(id: string): Watched {
    const view = observable<StreamView>({
      ...{ error: null, stream: null, state: null, counts: null, health: null, assets: [] },
      room: { type: 'stream', id },
    })
    const change = (part: Partial<StreamView>) => view.set({ ...view.value, ...part })
    const told = {
      state(state: StreamState) {
        const now = newer(view.value.state, state)
        change({ state: now, ...(now.status === 'live' ? {} : { health: null }) })
      },
      counts: (counts: StreamCount) => change({ counts: newer(view.value.counts, counts) }),
      assets: (assets: readonly StreamAsset[]) => change({ assets: withAssets(view.value.assets, assets) }),
    }
    let line: StreamLine | null = null
    let chat: FollowedChat | null = null

    function hear(now: StreamLine): Unsubscribe {
      const gone = new AbortController()
      line = now
      chat?.over(now)
      leaveByRest()
      const unhear = [
        now.hear(events.streamStateChanged, (state) => state.stream_id === id && told.state(state)),
        now.hear(events.streamCounted, (counts) => counts.stream_id === id && told.counts(counts)),
        now.hear(events.streamAssetChanged, ({ stream_id, asset }) => stream_id === id && told.assets([asset])),
        now.hear(events.streamHealth, ({ stream_id, ...health }) => {
          if (stream_id === id && view.value.state?.status === 'live') change({ health })
        }),
      ]
      const ask = async () => {
        const key = client.account === null ? readStored<string>(storage, keyName) : null
        const answer = await now.watch({ stream_id: id, chat: false, ...(key === null ? {} : { viewer_key: key }) })
        if (answer.viewer_key !== null) writeStored(storage, keyName, answer.viewer_key)
        if (gone.signal.aborted) return
        change({ error: null, stream: answer.stream, room: answer.room })
        told.state(answer.state)
        told.counts(answer.counts)
        told.assets(answer.assets)
      }
      void untilAnswered(ask, gone.signal, (error) => change({ error }))
      return () => {
        gone.abort()
        change({ health: null })
        for (const end of unhear) end()
      }
    }

    /** When it is said again over REST that the stream is watched, and whether it was. */
    let sayAt = 0
    let isSaid = false
    /** An event has a version, an answer has none. An answer holds until a newer event. */
    async function askByRest(): Promise<void> {
      const { stream } = await client.streams.publicStream({ id })
      const { v: stateV = 0 } = view.value.state ?? {}
      const { v: countsV = 0 } = view.value.counts ?? {}
      change({ error: null, stream })
      told.state(stateIn(stream, stateV))
      told.counts(countIn(stream, countsV))
      if (stream.status === 'ended') return told.assets((await client.streams.recordings({ id })).assets)
      if (performance.now() < sayAt) return
      sayAt = performance.now() + sayMilliseconds
      isSaid = true
      await client.streams.view({ id })
    }
    function leaveByRest(): void {
      if (isSaid) void client.streams.leave({ id }).catch(() => undefined)
      isSaid = false
    }
    function poll(): Unsubscribe {
      line = null
      chat?.over(null)
      sayAt = performance.now() + firstSayMilliseconds
      return everySo(pollMilliseconds, askByRest, (error) => change({ error }))
    }

    const unfollow = onEach(hear, poll)
    const made: Watched = {
      view,
      times: 0,
      readers: 0,
      chat() {
        if (chat) return chat
        chat = followChat(client, id)
        chat.over(line)
        return chat
      },
      leaveChat() {
        chat?.end()
        chat = null
        void line?.unlisten({ stream_id: id }).catch(() => undefined)
      },
      end() {
        void line?.unwatch({ stream_id: id }).catch(() => undefined)
        leaveByRest()
        chat?.end()
        unfollow()
        watched.delete(id)
      },
    }
    watched.set(id, made)
    return made
  }

  /** The stream, watched until the function is called once. */
  function hold(id: string): { stream: Watched; letGo: () => boolean } {
    const stream = watched.get(id) ?? watch(id)
    stream.times += 1
    let isOpen = true
    return {
      stream,
      letGo() {
        if (!isOpen) return false
        isOpen = false
        stream.times -= 1
        setTimeout(() => stream.times === 0 && watched.get(id) === stream && stream.end(), leaveMilliseconds)
        return true
      },
    }
  }

  return {
    open(id) {
      const { stream, letGo } = hold(id)
      return {
        id,
        get state() {
          return stream.view.value
        },
        subscribe: (listener) => stream.view.subscribe(listener),
        close: () => void letGo(),
      }
    },

    readChat(id) {
      const { stream, letGo } = hold(id)
      const { view } = stream.chat()
      stream.readers += 1
      return {
        get state() {
          return view.value
        },
        subscribe: (listener) => view.subscribe(listener),
        close() {
          if (!letGo()) return
          stream.readers -= 1
          if (stream.readers === 0) stream.leaveChat()
        },
      }
    },

    liveNow() {
      const view = observable<LiveNow['state']>({ error: null, streams: null })
      const hear = (line: StreamLine) => {
        const gone = new AbortController()
        const unhear = line.hear(events.streamListed, ({ updated, removed }) => {
          const gone = new Set([...removed, ...updated.map(({ id }) => id)])
          const left = (view.value.streams ?? []).filter(({ id }) => !gone.has(id))
          view.set({ error: null, streams: byViewers([...left, ...updated.filter(({ is_live }) => is_live)]) })
        })
        const ask = async () => {
          const { streams } = await line.directory({ limit: 100 })
          if (!gone.signal.aborted) view.set({ error: null, streams: byViewers(streams) })
        }
        void untilAnswered(ask, gone.signal, (error) => view.set({ ...view.value, error }))
        return () => {
          gone.abort()
          unhear()
        }
      }
      const poll = () =>
        everySo(
          listMilliseconds,
          async () => {
            const { streams } = await client.streams.directory({ limit: 100 })
            view.set({ error: null, streams: byViewers(streams) })
          },
          (error) => view.set({ ...view.value, error }),
        )
      const close = onEach(hear, poll)
      return {
        get state() {
          return view.value
        },
        subscribe: (listener) => view.subscribe(listener),
        close,
      }
    },
  }
}

const newer = <Told extends { v: number }>(known: Told | null, told: Told): Told =>
  known && known.v > told.v ? known : told

const stateIn = (stream: PublicStream, v: number): StreamState => {
  const { id: stream_id, title, status, is_live, reason, started_at, ended_at, grace_until } = stream
  return { stream_id, v, title, status, is_live, reason, started_at, ended_at, grace_until }
}
const countIn = ({ id, viewer_count, peak_viewers, unique_viewers }: PublicStream, v: number): StreamCount => ({
  ...{ stream_id: id, v, viewers: viewer_count, peak: peak_viewers, unique: unique_viewers },
  as_of: new Date().toISOString(),
})

const phases: readonly StreamAsset['status']['phase'][] = ['waiting', 'processing', 'failed', 'ready']
const reached = ({ status: { phase, progress } }: StreamAsset) => phases.indexOf(phase) + progress

/** A recording never goes back: of two words about one, that which is further holds. */
function withAssets(known: readonly StreamAsset[], told: readonly StreamAsset[]): readonly StreamAsset[] {
  const all = new Map(known.map((asset) => [asset.id, asset]))
  for (const asset of told) {
    const before = all.get(asset.id)
    if (!before || reached(asset) >= reached(before)) all.set(asset.id, asset)
  }
  return [...all.values()].sort((a, b) => a.recorded_from.localeCompare(b.recorded_from))
}

const byViewers = (streams: readonly PublicStream[]) =>
  [...streams].sort((a, b) => b.viewer_count - a.viewer_count || a.id.localeCompare(b.id))
