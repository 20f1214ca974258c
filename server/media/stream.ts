import type { StreamStatus } from '#server/ports/video/port'
import type { Clock } from './clock.ts'
import { createLive, type Fragment, type Ingest, type Live, type LiveOptions } from './live.ts'
import type { Publisher } from './rtmp.ts'

interface StreamOptions extends LiveOptions {
  clock: Clock
  /** The grace for a lost publisher. */
  graceMs: number
  /** Whether it was live when the engine ended. */
  wasLive: boolean
  /** Null where it is not recorded. */
  record: (() => { add(part: Fragment): void; end(): void }) | null
  tell(what: 'started' | 'interrupted' | 'stopped'): void
}

export interface Stream {
  /** A new publisher replaces the earlier one. */
  publish(stop: () => void): Publisher
  end(): void
  status(): StreamStatus
  live(): Live | null
  isPublished(): boolean
  close(): void
}

const silenceMs = 10_000
/** How long who publishes may show nothing. */
const firstMs = 30_000
/** How long the end of a livestream can be watched. */
export const endShownMs = 60_000

export function createStream(options: StreamOptions): Stream {
  const { clock, wall, graceMs, tell } = options
  let state: StreamStatus['state'] = 'idle'
  let live: Live | null = null
  let current: { ingest: Ingest; recording: { end(): void } | null; stop: () => void } | null = null
  let heardAt = 0
  let lastSeen: Date | null = null
  let over: (() => void) | null = null
  let watching: (() => void) | null = null

  function leave(): void {
    const left = current
    current = null
    left?.ingest.end()
    left?.recording?.end()
  }

  function started(): void {
    over?.()
    ;[state, over] = ['live', null]
    watch()
    tell('started')
  }

  /** Whether something comes is looked at when it should have come. */
  function watch(): void {
    watching?.()
    watching = clock.after(heardAt + silenceMs - clock.now(), () => {
      watching = null
      if (state !== 'live') return
      if (clock.now() - heardAt >= silenceMs) interrupted()
      else watch()
    })
  }

  function interrupted(): void {
    watching?.()
    ;[state, watching] = ['interrupted', null]
    over = clock.after(graceMs, stopped)
    tell('interrupted')
  }

  function stopped(): void {
    watching?.()
    over?.()
    ;[state, watching] = ['idle', null]
    const stop = current?.stop
    leave()
    stop?.()
    const shown = live
    shown?.finish()
    over = clock.after(endShownMs, () => {
      shown?.close()
      if (live === shown) live = null
    })
    tell('stopped')
  }

  if (options.wasLive) {
    live = createLive({ ...options, isAgain: true })
    interrupted()
  }

  return {
    publish(stop) {
      const before = current?.stop
      leave()
      before?.()
      if (state === 'idle') over?.()
      live ??= createLive(options)
      const recording = options.record?.() ?? null
      const ingest = live.begin((part) => {
        // Sound alone is announced with its first part, as a picture may still come.
        if (current === me && state !== 'live') started()
        recording?.add(part)
      })
      const me = { ingest, recording, stop }
      let isDescribed = false
      current = me
      clock.after(firstMs, () => {
        if (current !== me || state === 'live') return
        leave()
        stop()
      })
      const heard = (canBeShown: boolean): void => {
        heardAt = clock.now()
        lastSeen = new Date(wall())
        if (canBeShown && state !== 'live') started()
      }
      return {
        configure(tracks) {
          if (current !== me) return
          isDescribed ||= tracks.video !== undefined
          ingest.configure(tracks)
        },
        video(frame) {
          if (current !== me) return
          heard(isDescribed && frame.key)
          ingest.video(frame)
        },
        audio(frame) {
          if (current !== me) return
          heard(false)
          ingest.audio(frame)
        },
        end(isMeant) {
          if (current !== me) return
          leave()
          if (isMeant && state !== 'idle') stopped()
          else if (state === 'live') interrupted()
        },
      }
    },
    end() {
      if (state !== 'idle') stopped()
      else {
        const stop = current?.stop
        leave()
        stop?.()
      }
    },
    status: () => ({ state, lastSeen }),
    live: () => live,
    isPublished: () => current !== null,
    close() {
      over?.()
      watching?.()
      const stop = current?.stop
      leave()
      stop?.()
      live?.close()
    },
  }
}
