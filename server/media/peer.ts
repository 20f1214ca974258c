import {
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RTCRtpHeaderExtensionParameters,
  type RTCRtpTransceiver,
} from 'werift'
import type { Clock } from './clock.ts'

export interface PeerSettings {
  /** Addresses at which browsers reach this machine, where they are others than its own. */
  announced: readonly string[]
  /** From which to which port media comes; null for any. */
  udpPorts: readonly [number, number] | null
  /** Listens at this address alone; null for all. */
  address: string | null
}

interface Peer {
  connection: RTCPeerConnection
  close(): void
}

const connectMs = 10_000
const gatherMs = 3_000
const congestion = { type: 'transport-cc' }
const feedback = { video: [{ type: 'nack' }, { type: 'nack', parameter: 'pli' }, congestion], audio: [congestion] }
const extensions = [
  'urn:ietf:params:rtp-hdrext:sdes:mid',
  'http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time',
  'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01',
]

/** The end of a connection to a browser. It is closed where it is not made in time, and where it fails. */
export function openPeer(
  { announced, udpPorts, address }: PeerSettings,
  video: 'H264' | 'VP9',
  clock: Clock,
  closed: () => void,
): Peer {
  const headerExtensions = extensions.map((uri) => new RTCRtpHeaderExtensionParameters({ uri }))
  const connection = new RTCPeerConnection({
    codecs: {
      video: [
        new RTCRtpCodecParameters({ mimeType: `video/${video}`, clockRate: 90_000, rtcpFeedback: feedback.video }),
        new RTCRtpCodecParameters({ mimeType: 'video/rtx', clockRate: 90_000 }),
      ],
      audio: [
        new RTCRtpCodecParameters({
          mimeType: 'audio/OPUS',
          clockRate: 48_000,
          channels: 2,
          rtcpFeedback: feedback.audio,
        }),
      ],
    },
    headerExtensions: { video: headerExtensions, audio: headerExtensions },
    // Without other servers, nobody else learns of viewers.
    iceServers: [],
    iceUseTcp: true,
    iceUseIpv6: address === null,
    ...(announced.length > 0 ? { iceAdditionalHostAddresses: [...announced] } : {}),
    ...(udpPorts ? { icePortRange: [udpPorts[0], udpPorts[1]] as [number, number] } : {}),
    ...(address
      ? { iceInterfaceAddresses: { udp4: address }, iceAdditionalHostAddresses: [address, ...announced] }
      : {}),
  })
  let isClosed = false
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    late()
    connection.close().catch(() => undefined)
    closed()
  }
  const late = clock.after(connectMs, () => {
    if (connection.connectionState !== 'connected') close()
  })
  connection.connectionStateChange.subscribe((state) => {
    if (state === 'failed' || state === 'closed') close()
  })
  return { connection, close }
}

/** Takes the offer, and answers with all addresses there are. */
export async function answerOffer(
  connection: RTCPeerConnection,
  sdp: string,
  prepare: (transceivers: readonly RTCRtpTransceiver[]) => void | Promise<void>,
): Promise<string> {
  await connection.setRemoteDescription({ type: 'offer', sdp })
  await prepare(connection.getTransceivers())
  await connection.setLocalDescription(await connection.createAnswer())
  await gathered(connection)
  const answer = connection.localDescription?.sdp
  if (!answer) throw new Error('There is no answer')
  return answer
}

/** Until all addresses are known, or for as long as is worth it. */
function gathered(connection: RTCPeerConnection): Promise<void> {
  if (connection.iceGatheringState === 'complete') return Promise.resolve()
  return new Promise((resolve) => {
    const late = setTimeout(resolve, gatherMs)
    connection.iceGatheringStateChange.subscribe((state) => {
      if (state !== 'complete') return
      clearTimeout(late)
      resolve()
    })
  })
}
