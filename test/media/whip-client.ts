import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters, RtpHeader, RtpPacket } from 'werift'
import { pictures } from './pictures.ts'
import { packetsOf } from './rtp-packets.ts'

export interface WhipClient {
  status: number
  location: string | null
  /** As a browser that is closed without a word. */
  lose(): Promise<void>
}

const opusSilence = Buffer.from('f8fffe', 'hex')

/** Publishes pictures of a clock and silence, as a browser does. */
export async function publishWhip(
  url: string,
  { fps = 20, keyEvery = 10, isSilent = false } = {},
): Promise<WhipClient> {
  const connection = connectionOf('H264')
  const [video, audio] = [new MediaStreamTrack({ kind: 'video' }), new MediaStreamTrack({ kind: 'audio' })]
  connection.addTransceiver(video, { direction: 'sendonly' })
  connection.addTransceiver(audio, { direction: 'sendonly' })
  const answer = await offered(connection, url)
  const timers: NodeJS.Timeout[] = []
  const lose = async () => {
    for (const timer of timers) clearInterval(timer)
    await connection.close()
  }
  if (answer.status === 201 && !isSilent) {
    const { config, frames } = pictures(40, { fps, keyEvery })
    const write = (to: MediaStreamTrack, sequenceNumber: number, timestamp: number, marker: boolean, payload: Buffer) =>
      to.writeRtp(new RtpPacket(new RtpHeader({ sequenceNumber, timestamp, marker, payloadType: 96 }), payload))
    let [picture, sound, sequence] = [0, 0, 60_000]
    timers.push(
      setInterval(() => {
        const frame = frames[picture % frames.length]
        if (!frame) return
        const time = Math.round((picture++ * 90_000) / fps)
        for (const packet of packetsOf(config, [{ ...frame, time }], sequence)) {
          write(video, packet.sequence, packet.timestamp, packet.marker, packet.payload)
          sequence++
        }
      }, 1000 / fps),
      setInterval(() => write(audio, sound & 0xffff, (sound++ * 960) % 2 ** 32, true, opusSilence), 20),
    )
  }
  return { status: answer.status, location: answer.headers.get('location'), lose }
}

export interface WhepClient {
  status: number
  location: string | null
  /** Packets that have come, by kind. */
  heard: { video: RtpPacket[]; audio: RtpPacket[] }
  state(): string
  close(): Promise<void>
}

/** Watches as a browser does that takes one codec for pictures. */
export async function watchWhep(url: string, codec = 'H264', client = 'somebody'): Promise<WhepClient> {
  const connection = connectionOf(codec)
  const heard: WhepClient['heard'] = { video: [], audio: [] }
  connection.onTrack.subscribe((track) => {
    track.onReceiveRtp.subscribe((packet) => heard[track.kind === 'audio' ? 'audio' : 'video'].push(packet))
  })
  connection.addTransceiver('video', { direction: 'recvonly' })
  connection.addTransceiver('audio', { direction: 'recvonly' })
  const answer = await offered(connection, url, client)
  return {
    status: answer.status,
    location: answer.headers.get('location'),
    heard,
    state: () => connection.connectionState,
    close: () => connection.close(),
  }
}

function connectionOf(codec: string): RTCPeerConnection {
  return new RTCPeerConnection({
    codecs: {
      video: [
        new RTCRtpCodecParameters({
          mimeType: `video/${codec}`,
          clockRate: 90_000,
          rtcpFeedback: [{ type: 'nack' }, { type: 'nack', parameter: 'pli' }],
          parameters: codec === 'H264' ? 'packetization-mode=1;profile-level-id=42e01f' : 'profile-id=0',
        }),
      ],
      audio: [new RTCRtpCodecParameters({ mimeType: 'audio/OPUS', clockRate: 48_000, channels: 2 })],
    },
    iceServers: [],
    iceUseIpv6: false,
    iceInterfaceAddresses: { udp4: '127.0.0.1' },
    iceAdditionalHostAddresses: ['127.0.0.1'],
  })
}

async function offered(connection: RTCPeerConnection, url: string, client = 'somebody'): Promise<Response> {
  await connection.setLocalDescription(await connection.createOffer())
  const answer = await fetch(url, {
    method: 'POST',
    body: connection.localDescription?.sdp ?? '',
    headers: { 'content-type': 'application/sdp', 'x-media-client': client },
  })
  if (answer.status === 201) await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() })
  return answer
}

/** Offers to watch, again and again, as a client that never connects. */
export async function offerOf(url: string): Promise<(client: string) => Promise<Response>> {
  const connection = connectionOf('H264')
  connection.addTransceiver('video', { direction: 'recvonly' })
  await connection.setLocalDescription(await connection.createOffer())
  const body = connection.localDescription?.sdp ?? ''
  await connection.close()
  return (client) =>
    fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/sdp', 'x-media-client': client } })
}
