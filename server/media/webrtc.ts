import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { Webrtc } from './http-webrtc.ts'
import type { EngineSettings } from './messages.ts'
import type { Publisher } from './publisher.ts'
import { chooseOffer } from './sdp.ts'
import { answerWhep, type Source } from './whep.ts'
import { answerWhip } from './whip.ts'

export interface WebrtcOptions {
  settings: EngineSettings
  clock: Clock
  publish(key: string, stop: () => void): Publisher | null
  playbackOf(key: string): string | null
}

interface Shown {
  source: Source
  viewers: Set<() => void>
}

const mostViewers = 300

/** The connections to browsers. Each is ended by a secret name of its own, as the key is not to be seen twice. */
export function openWebrtc({ settings, clock, publish, playbackOf }: WebrtcOptions): Webrtc {
  const sessions = new Map<string, () => void>()
  const sources = new Map<string, Shown>()
  let viewers = 0
  const options = { ...settings, clock }

  function connect(key: string, offer: string): ReturnType<Webrtc['connect']> {
    const chosen = chooseOffer(offer)
    if (!chosen) return 406
    const session = newSession(settings.host)
    let [isStopped, close] = [false, () => {}]
    const publisher = publish(key, () => {
      isStopped = true
      close()
    })
    const playbackId = playbackOf(key)
    if (!publisher || playbackId === null) return 404
    let shown: Shown | null = null
    const ended: Publisher = {
      ...publisher,
      end(isMeant) {
        sessions.delete(session)
        if (shown && sources.get(playbackId) === shown) sources.delete(playbackId)
        for (const leave of shown?.viewers ?? []) leave()
        publisher.end(isMeant)
      },
    }
    return answerWhip(chosen, ended, options).then((peer) => {
      close = peer.close
      shown = { source: peer.source, viewers: new Set() }
      sources.set(playbackId, shown)
      sessions.set(session, () => {
        ended.end(true)
        peer.close()
      })
      if (isStopped) close()
      return { answer: peer.answer, session }
    })
  }

  function watch({ source, viewers: ofSource }: Shown, offer: string): ReturnType<Webrtc['connect']> {
    const chosen = chooseOffer(offer, source.video ? [source.video] : [])
    if (!chosen || viewers >= mostViewers) return 406
    const session = newSession(settings.host)
    let close = () => {}
    const leave = () => close()
    viewers++
    ofSource.add(leave)
    const watching = answerWhep(chosen, source, options, () => {
      viewers--
      ofSource.delete(leave)
      sessions.delete(session)
    })
    return watching.then((peer) => {
      close = peer.close
      sessions.set(session, close)
      return { answer: peer.answer, session }
    })
  }

  return {
    connect(name, offer) {
      const shown = sources.get(name)
      return shown ? watch(shown, offer) : connect(name, offer)
    },
    end(session) {
      const end = sessions.get(session)
      end?.()
      return end !== undefined
    },
  }
}

const newSession = (host: string) => `${host}-session-${randomBytes(16).toString('hex')}`
