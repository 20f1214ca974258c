import { gathered, postOffer, untilConnected, untilLost } from './peer.ts'

export interface Way {
  name: 'webrtc' | 'hls'
  /** Resolves when it shows no more. */
  ended: Promise<void>
  /** Seconds behind what happens; null where that is not known. */
  latency(): Promise<number | null>
  /** The picture may be back: do not wait to look. */
  hurry(): void
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
  return {
    name: 'webrtc',
    ended: untilLost(peer),
    latency: () => latencyOf(peer),
    hurry: () => {},
    close() {
      close()
      video.srcObject = null
    },
  }
}

/** Half of the way there and back, and the time that pictures wait to be shown. */
async function latencyOf(peer: RTCPeerConnection): Promise<number | null> {
  let way: number | null = null
  let waits = 0
  for (const report of (await peer.getStats()).values()) {
    if (report.type === 'candidate-pair' && report.nominated && report.currentRoundTripTime !== undefined)
      way = report.currentRoundTripTime / 2
    if (report.type === 'inbound-rtp' && report.kind === 'video' && report.jitterBufferEmittedCount > 0)
      waits = report.jitterBufferDelay / report.jitterBufferEmittedCount
  }
  return way === null ? null : way + waits
}
