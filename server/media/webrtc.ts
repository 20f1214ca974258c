import { randomBytes } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '#server/kernel/make-directory'
import type { Clock } from './clock.ts'
import type { Webrtc } from './http.ts'
import type { EngineSettings } from './messages.ts'
import type { Publisher } from './rtmp.ts'
import { chooseOffer } from './sdp.ts'
import { answerWhep, answerWhip, type Source } from './whip.ts'

interface WebrtcOptions {
  settings: EngineSettings
  clock: Clock
  publish(key: string, stop: () => void): Publisher | null
  playbackOf(key: string): string | null
  /** Whether the stream of a watch name is live; null for an unknown name. */
  isLive(name: string): boolean | null
}

interface Shown {
  source: Source
  viewers: Set<() => void>
  /** When its last packet came. */
  heardAt: number
}

/** The limit of unconnected offers of one address, as offers cost nothing and each takes a slot. */
const mostWaiting = 20
/** A silent publisher is disconnected after so long. */
const silenceMs = 10_000

/** The connections to browsers. Each is ended by a secret name of its own, as the key is not to be seen twice. */
export function openWebrtc({ settings, clock, publish, playbackOf, isLive }: WebrtcOptions): Webrtc {
  const sessions = new Map<string, () => void>()
  const sources = new Map<string, Shown>()
  /** How many are not connected yet, by where they came from. */
  const waiting = new Map<string, number>()
  let viewers = 0
  const options = { ...settings, clock }

  function connect(key: string, offer: string): ReturnType<Webrtc['connect']> {
    const chosen = chooseOffer(offer)
    if (!chosen) return 406
    const session = newSession(settings.host)
    let [isStopped, isOver, close] = [false, false, () => {}]
    const playbackId = playbackOf(key)
    if (playbackId === null) return 404
    const publisher = publish(key, () => {
      isStopped = true
      close()
    })
    if (!publisher) return 503
    let shown: Shown | null = null
    const ended: Publisher = {
      ...publisher,
      end(isMeant) {
        isOver = true
        sessions.delete(session)
        if (shown && sources.get(playbackId) === shown) sources.delete(playbackId)
        for (const leave of shown?.viewers ?? []) leave()
        publisher.end(isMeant)
      },
    }
    return answerWhip(chosen, ended, options).then((peer) => {
      close = peer.close
      const mine: Shown = { source: peer.source, viewers: new Set(), heardAt: 0 }
      shown = mine
      // With the first packet, as before it there is nothing to be watched.
      let isHeard = false
      peer.source.subscribe(() => {
        mine.heardAt = clock.now()
        if (isHeard || isOver) return
        isHeard = true
        sources.set(playbackId, mine)
      })
      sessions.set(session, () => {
        ended.end(true)
        peer.close()
      })
      if (isStopped) close()
      return { answer: peer.answer, session }
    })
  }

  function watch({ source, viewers: ofSource }: Shown, offer: string, client: string): ReturnType<Webrtc['connect']> {
    const chosen = chooseOffer(offer, source.video ? [source.video] : [])
    if (!chosen) return 406
    if (viewers >= settings.mostViewers) return 503
    if ((waiting.get(client) ?? 0) >= mostWaiting) return 429
    const session = newSession(settings.host)
    let close = () => {}
    const leave = () => close()
    viewers++
    ofSource.add(leave)
    const connected = wait(client)
    const watching = answerWhep(chosen, source, options, {
      connected,
      closed() {
        connected()
        viewers--
        ofSource.delete(leave)
        sessions.delete(session)
      },
    })
    return watching.then((peer) => {
      close = peer.close
      sessions.set(session, close)
      return { answer: peer.answer, session }
    })
  }

  function shownBy(name: string): Shown | null {
    const shown = sources.get(name)
    return shown && clock.now() - shown.heardAt < silenceMs ? shown : null
  }

  /** Returns what ends it. */
  function wait(client: string): () => void {
    let isOver = false
    waiting.set(client, (waiting.get(client) ?? 0) + 1)
    return () => {
      if (isOver) return
      isOver = true
      const left = (waiting.get(client) ?? 0) - 1
      if (left > 0) waiting.set(client, left)
      else waiting.delete(client)
    }
  }

  return {
    refusalOf(name) {
      const live = shownBy(name) ? true : isLive(name)
      if (live === null) return playbackOf(name) === null ? 404 : null
      return live ? null : 'not live'
    },
    connect(name, offer, client) {
      const shown = shownBy(name)
      if (shown) return watch(shown, offer, client)
      return isLive(name) === null ? connect(name, offer) : 406
    },
    end(session) {
      const end = sessions.get(session)
      end?.()
      return end !== undefined
    },
  }
}

const newSession = (host: string) => `${host}-session-${randomBytes(16).toString('hex')}`

/** What outlives the engine of a stream. Of its key only a digest is kept. */
export interface StreamRow {
  streamId: string
  playbackId: string
  digest: string
  record: boolean
  isLive: boolean
  /** In rows of earlier versions, which kept what had ended. */
  isEnded?: boolean
}

interface Registry {
  rows: readonly StreamRow[]
  keep(row: StreamRow): Promise<void>
  remove(streamId: string): Promise<void>
}

/** A file for each stream. */
export async function openRegistry(directory: string): Promise<Registry> {
  await makeDirectory(directory)
  const place = (streamId: string) => join(directory, `${streamId}.json`)
  const rows: StreamRow[] = []
  for (const file of await readdir(directory)) {
    if (!file.endsWith('.json')) continue
    const row = await readFile(join(directory, file), 'utf8').then(parse, () => null)
    if (row) rows.push(row)
  }
  let last: Promise<void> = Promise.resolve()
  const inTurn = (act: () => Promise<void>): Promise<void> => {
    const done = last.then(act)
    last = done.catch(() => undefined)
    return done
  }
  return {
    rows,
    keep: (row) =>
      inTurn(async () => {
        await writeFile(`${place(row.streamId)}.new`, JSON.stringify(row), { mode: 0o600, flush: true })
        await rename(`${place(row.streamId)}.new`, place(row.streamId))
      }),
    remove: (streamId) => inTurn(() => rm(place(streamId), { force: true })),
  }
}

function parse(text: string): StreamRow | null {
  try {
    return JSON.parse(text) as StreamRow
  } catch {
    return null
  }
}
