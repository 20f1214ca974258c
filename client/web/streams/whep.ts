import { gathered, postOffer, untilConnected, untilLost } from './peer.ts'

export interface Way {
  name: 'webrtc' | 'hls'
  /** Resolves when it shows no more. */
  ended: Promise<void>
  /** Seconds behind what happens, of what was shown since it was asked last; null where that is not known. */
  latency(): Promise<number | null>
  /** The picture may be back: do not wait to look. */
  hurry(): void
  /** Skips what was missed. */
  toLive(): void
  /** The heights of what can be chosen, and a choice of them by its place; -1 is automatic. */
  qualities(): readonly number[]
  choose(quality: number): void
  close(): void
}

const connectMilliseconds = 6_000

/** Plays over WebRTC. Rejects where the server does not show it so. */
export async function playByWebRtc(video: HTMLVideoElement, url: string, signal: AbortSignal): Promise<Way> {
  const peer = new RTCPeerConnection()
  let session: string | null = null
  const close = () => {
    peer.close()
    if (session) void fetch(session, { method: 'DELETE' }).catch(() => {})
  }
  try {
    for (const kind of ['video', 'audio']) peer.addTransceiver(kind, { direction: 'recvonly' })
    const media = new MediaStream()
    peer.addEventListener('track', ({ track }) => media.addTrack(track))
    await peer.setLocalDescription()
    await gathered(peer)
    const answer = await postOffer(url, peer, signal)
    session = answer.session
    await peer.setRemoteDescription({ type: 'answer', sdp: answer.sdp })
    await untilConnected(peer, connectMilliseconds, signal)
    video.srcObject = media
    await video.play().catch(() => {})
  } catch (error) {
    close()
    throw error
  }
  let lastShown: Shown = { count: 0, waited: 0 }
  return {
    name: 'webrtc',
    ended: untilLost(peer),
    async latency() {
      const { way, shown } = await measured(peer)
      const count = shown.count - lastShown.count
      const waited = shown.waited - lastShown.waited
      lastShown = shown
      return way === null || count <= 0 ? null : way + waited / count
    },
    hurry: () => {},
    // It shows nothing else.
    toLive: () => {},
    qualities: () => [],
    choose: () => {},
    close() {
      close()
      video.srcObject = null
    },
  }
}

/** Pictures that were shown, and the seconds that they have waited to be, in all. */
interface Shown {
  count: number
  waited: number
}

/** Half of the way there and back in seconds, null before it is known, and what was shown. */
async function measured(peer: RTCPeerConnection): Promise<{ way: number | null; shown: Shown }> {
  let way: number | null = null
  let shown: Shown = { count: 0, waited: 0 }
  for (const report of (await peer.getStats()).values()) {
    if (report.type === 'candidate-pair' && report.nominated && report.currentRoundTripTime !== undefined)
      way = report.currentRoundTripTime / 2
    if (report.type === 'inbound-rtp' && report.kind === 'video' && report.jitterBufferEmittedCount > 0)
      shown = { count: report.jitterBufferEmittedCount, waited: report.jitterBufferDelay }
  }
  return { way, shown }
}
