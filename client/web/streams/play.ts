import { backoff, pauseFor } from '#client/sdk/timing'
import { OfferRefused } from './peer.ts'
import { playByWebRtc, type Way } from './whep.ts'

/** How a picture is played now. */
export interface Playing {
  way: Way['name'] | null
  /** Seconds behind what happens; null where that is not known, and while the picture stands. */
  latency: number | null
  /** The heights of what can be chosen, from the lowest; empty while there is no choice. */
  qualities: readonly number[]
}
export const notPlaying: Playing = { way: null, latency: null, qualities: [] }

const lookMilliseconds = 1_000

/** Plays a stream until it is closed: by WebRTC where the server shows it so, else by HLS, and again whenever it breaks off. */
export function play(
  video: HTMLVideoElement,
  { whep_url, playback_url }: { whep_url: string | null; playback_url: string },
  tell: (playing: Playing) => void,
): { hurry(): void; toLive(): void; choose(quality: number): void; close(): void } {
  const gone = new AbortController()
  let way: Way | null = null
  let pause = new AbortController()
  let isRefused = false

  async function begin(): Promise<Way> {
    if (whep_url !== null && !isRefused && 'RTCPeerConnection' in globalThis) {
      try {
        return await playByWebRtc(video, whep_url, gone.signal)
      } catch (error) {
        isRefused = error instanceof OfferRefused && [404, 406].includes(error.status)
      }
    }
    const { playByHls } = await import('./hls.ts')
    gone.signal.throwIfAborted()
    return playByHls(video, playback_url)
  }

  async function follow(): Promise<void> {
    for (let failures = 0; !gone.signal.aborted; failures++) {
      pause = new AbortController()
      const began = Date.now()
      way = await begin().catch(() => null)
      if (gone.signal.aborted) way?.close()
      else if (way) {
        tell({ way: way.name, latency: null, qualities: way.qualities() })
        await Promise.race([way.ended, aborted(gone.signal)])
        way.close()
        way = null
        if (Date.now() - began > 30_000) failures = 0
        tell(notPlaying)
      }
      await pauseFor(backoff(failures, 1_000), AbortSignal.any([gone.signal, pause.signal]))
    }
  }

  let shownUntil = 0
  const timer = setInterval(async () => {
    const now = way
    const goesOn = !video.paused && video.currentTime !== shownUntil
    shownUntil = video.currentTime
    const latency = goesOn && now ? await now.latency() : null
    if (now && now === way) tell({ way: now.name, latency, qualities: now.qualities() })
  }, lookMilliseconds)
  void follow()

  return {
    hurry() {
      isRefused = false
      pause.abort()
      way?.hurry()
    },
    toLive: () => way?.toLive(),
    choose: (quality) => way?.choose(quality),
    close() {
      clearInterval(timer)
      gone.abort()
    },
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
