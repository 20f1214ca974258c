import { gathered, postOffer, untilConnected, untilLost } from './peer.ts'

const connectMilliseconds = 15_000
const mostBitsPerSecond = 4_000_000
const preferred = ['video/H264', 'video/VP9']

export interface Published {
  /** Resolves when the connection is lost. */
  ended: Promise<void>
  /** Sends another picture from now on. */
  show(picture: MediaStreamTrack): Promise<void>
  close(): void
}

/** Publishes by WHIP; resolves as soon as media can flow. */
export async function publish(url: string, media: MediaStream, signal: AbortSignal): Promise<Published> {
  const peer = new RTCPeerConnection()
  let session: string | null = null
  const close = () => {
    peer.close()
    if (session) void fetch(session, { method: 'DELETE', keepalive: true }).catch(() => {})
  }
  try {
    for (const track of media.getTracks()) {
      const isVideo = track.kind === 'video'
      const transceiver = peer.addTransceiver(track, {
        direction: 'sendonly',
        streams: [media],
        ...(isVideo ? { sendEncodings: [{ maxBitrate: mostBitsPerSecond, maxFramerate: 30 }] } : {}),
      })
      if (isVideo) preferCodecs(transceiver)
    }
    await peer.setLocalDescription()
    for (const sender of peer.getSenders()) if (sender.track?.kind === 'video') await keepSize(sender)
    await gathered(peer)
    const answer = await postOffer(url, peer, signal)
    session = answer.session
    await peer.setRemoteDescription({ type: 'answer', sdp: answer.sdp })
    await untilConnected(peer, connectMilliseconds, signal)
  } catch (error) {
    close()
    throw error
  }
  const show = async (picture: MediaStreamTrack) => {
    for (const sender of peer.getSenders()) if (sender.track?.kind === 'video') await sender.replaceTrack(picture)
  }
  return { ended: untilLost(peer), show, close }
}

/** Viewers by HLS want H264; VP9 where a browser has none. */
function preferCodecs(transceiver: RTCRtpTransceiver): void {
  const all = RTCRtpReceiver.getCapabilities('video')?.codecs ?? []
  const rank = ({ mimeType }: { mimeType: string }) =>
    (preferred.indexOf(mimeType) + preferred.length + 1) % (preferred.length + 1)
  transceiver.setCodecPreferences([...all].sort((a, b) => rank(a) - rank(b)))
}

/** Fewer pictures are better than smaller ones: each change of size interrupts who watches. */
async function keepSize(sender: RTCRtpSender): Promise<void> {
  const parameters = { ...sender.getParameters(), degradationPreference: 'maintain-resolution' as const }
  await sender.setParameters(parameters).catch(() => {})
}
