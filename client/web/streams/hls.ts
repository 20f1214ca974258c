import Hls from 'hls.js/light'
import type { Way } from './whep.ts'

const againMilliseconds = 1_000

/** Plays by HLS with low latency, or by the browser's own HLS. It asks again by itself once it has shown something. */
export function playByHls(video: HTMLVideoElement, url: string): Way {
  if (!Hls.isSupported()) return playNatively(video, url)
  // How far behind it plays is said by the playlist; a setting for that would make it later.
  const hls = new Hls({ lowLatencyMode: true, maxLiveSyncPlaybackRate: 1.2, backBufferLength: 30, enableWorker: false })
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasBegun = false
  let isMended = false
  const ended = new Promise<void>((resolve) => {
    hls.on(Hls.Events.LEVEL_LOADED, () => {
      hasBegun = true
    })
    hls.on(Hls.Events.ERROR, (_event, { fatal, type }) => {
      if (!fatal) return
      clearTimeout(timer)
      if (type === Hls.ErrorTypes.NETWORK_ERROR && hasBegun)
        timer = setTimeout(() => hls.startLoad(), againMilliseconds)
      else if (type === Hls.ErrorTypes.MEDIA_ERROR && !isMended) {
        isMended = true
        hls.recoverMediaError()
      } else resolve()
    })
  })
  hls.loadSource(url)
  hls.attachMedia(video)
  hls.on(Hls.Events.MANIFEST_PARSED, () => void video.play().catch(() => {}))
  return {
    name: 'hls',
    ended,
    latency: async () => (hls.latency > 0 ? hls.latency : null),
    hurry: () => hls.startLoad(),
    toLive() {
      if (hls.liveSyncPosition !== null) video.currentTime = hls.liveSyncPosition
    },
    qualities: () => hls.levels.map(({ height }) => height),
    choose(quality) {
      hls.currentLevel = quality
    },
    close() {
      clearTimeout(timer)
      hls.destroy()
    },
  }
}

function playNatively(video: HTMLVideoElement, url: string): Way {
  const ended = new Promise<void>((resolve) => video.addEventListener('error', () => resolve(), { once: true }))
  video.src = url
  void video.play().catch(() => {})
  return {
    name: 'hls',
    ended,
    latency: async () => null,
    hurry: () => void video.play().catch(() => {}),
    toLive() {
      const { seekable } = video
      if (seekable.length > 0) video.currentTime = seekable.end(seekable.length - 1)
    },
    // The browser chooses by itself.
    qualities: () => [],
    choose: () => {},
    close() {
      video.removeAttribute('src')
      video.load()
    },
  }
}
