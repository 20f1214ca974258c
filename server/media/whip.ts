import type { RTCDtlsTransport, RTCRtpReceiver, RTCRtpTransceiver, RtcpPacket, RtpPacket } from 'werift'
import { createAacEncoder } from './aac.ts'
import { createAlignment, type Kind } from './alignment.ts'
import { aacOf, opusConfig, opusRate, opusSamples } from './audio.ts'
import type { Clock } from './clock.ts'
import { answerOffer, openPeer, type PeerSettings } from './peer.ts'
import { limitMissing } from './peer-limits.ts'
import type { Publisher } from './publisher.ts'
import { createReorder, h264Reader, type Packet, unwrapper, vp9Reader } from './rtp.ts'
import { type ChosenOffer, withStartBitrate } from './sdp.ts'
import { twccCollector } from './twcc.ts'
import type { Source } from './whep.ts'

export interface WhipOptions {
  peers: PeerSettings
  /** Whether sound becomes AAC, as players of Apple take no other in HLS. */
  aac: boolean
  clock: Clock
  /** Browsers make key frames on request alone. */
  segmentMs: number
}

const startKilobits = 2_500
const flushMs = 50
const askAgainMs = 500
const senderReport = 200
/** Between the seconds of NTP and a number. */
const ntpUnit = 2 ** 32

/** Receives a browser's stream (RFC 9725). A closed connection means a lost publisher, unless it was announced. */
export async function answerWhip(
  { sdp, video, audio }: ChosenOffer,
  publisher: Publisher,
  options: WhipOptions,
): Promise<{ answer: string; source: Source; close(): void }> {
  const { clock, segmentMs, peers, aac } = options
  const stopping = new Set<() => void>()
  const peer = openPeer(peers, video ?? 'H264', clock, () => {
    for (const stop of stopping) stop()
    publisher.end(false)
  })
  const kinds: Kind[] = [...(video ? ['video' as const] : []), ...(audio ? ['audio' as const] : [])]
  const aligned = createAlignment(clock.now, kinds, { audio: opusRate }, publisher)
  const encoder = aac && audio ? await createAacEncoder(aligned.audio).catch(() => null) : null
  if (encoder) stopping.add(encoder.close)
  const watching = new Set<(kind: Kind, packet: RtpPacket) => void>()
  let askForKey = () => {}
  const ticks = { video: unwrapper(2 ** 32), audio: unwrapper(2 ** 32) }

  function every(milliseconds: number, act: () => void): void {
    let cancel = clock.after(milliseconds, function again() {
      act()
      cancel = clock.after(milliseconds, again)
    })
    stopping.add(() => cancel())
  }

  /** Replaces the track's own, which reports no losses. */
  function collectArrivals(receivers: readonly RTCRtpReceiver[]): void {
    const [first] = receivers
    if (!first) return
    const collector = twccCollector(
      () => Math.round(clock.now() * 1000),
      (make) => {
        const bytes = make({ sender: first.rtcpSsrc, media: first.track.ssrc ?? 0 })
        send(first.dtlsTransport, bytes)
      },
    )
    for (const receiver of receivers) Object.assign(receiver, { receiverTWCC: { ...collector, twccRunning: false } })
    every(flushMs, collector.flush)
  }

  function hear(receiver: RTCRtpReceiver, kind: Kind, push: (packet: Packet) => void): void {
    receiver.track.onReceiveRtp.subscribe((packet) => {
      push(packetOf(packet))
      for (const watch of watching) watch(kind, packet)
    })
  }

  function hearVideo(receiver: RTCRtpReceiver): void {
    limitMissing(receiver)
    let askedAt = Number.NEGATIVE_INFINITY
    let hasKey = false
    const ask = (): void => {
      const { ssrc } = receiver.track
      if (ssrc === undefined || clock.now() - askedAt < askAgainMs) return
      askedAt = clock.now()
      receiver.sendRtcpPLI(ssrc).catch(() => undefined)
    }
    const reader = (video === 'VP9' ? vp9Reader : h264Reader)({
      config: (config) => publisher.configure({ video: config }),
      picture({ timestamp, key, data }) {
        hasKey ||= key
        if (hasKey) aligned.video({ time: ticks.video(timestamp), offset: 0, key, data })
        else ask()
      },
    })
    const push = createReorder(clock.now, reader.push, () => {
      // What follows cannot be decoded until there is a key frame.
      hasKey = false
      reader.lost()
      ask()
    })
    askForKey = ask
    hear(receiver, 'video', push)
    every(segmentMs, ask)
  }

  function hearAudio(receiver: RTCRtpReceiver): void {
    // Announced early, so that the first description has it.
    publisher.configure({ audio: encoder ? aacOf(opusRate, 2) : opusConfig(2) })
    const take = encoder ? encoder.push : aligned.audio
    const push = createReorder(
      clock.now,
      ({ timestamp, payload }) => {
        if (payload.length > 0) take({ time: ticks.audio(timestamp), duration: opusSamples(payload), data: payload })
      },
      () => undefined,
    )
    hear(receiver, 'audio', push)
  }

  function prepare(transceivers: readonly RTCRtpTransceiver[]): void {
    const receivers = transceivers.map(({ receiver }) => receiver)
    for (const receiver of receivers) {
      const kind: Kind = receiver.kind === 'audio' ? 'audio' : 'video'
      if (!kinds.includes(kind)) continue
      if (kind === 'video') hearVideo(receiver)
      else hearAudio(receiver)
      receiver.onRtcp.subscribe((report) => {
        if (report.type !== senderReport || !('senderInfo' in report)) return
        const { ntpTimestamp, rtpTimestamp } = report.senderInfo
        aligned.report(kind, Number(ntpTimestamp) / ntpUnit, ticks[kind](rtpTimestamp))
      })
    }
    collectArrivals(receivers)
  }

  try {
    const answer = await answerOffer(peer.connection, sdp, prepare)
    const source: Source = {
      video,
      subscribe(watch) {
        watching.add(watch)
        return () => void watching.delete(watch)
      },
      askForKey: () => askForKey(),
    }
    return { answer: withStartBitrate(answer, startKilobits), source, close: peer.close }
  } catch (error) {
    peer.close()
    throw error
  }
}

const packetOf = ({ header, payload }: RtpPacket): Packet => ({
  sequence: header.sequenceNumber,
  timestamp: header.timestamp,
  marker: header.marker,
  payload,
})

function send(transport: RTCDtlsTransport, bytes: Buffer): void {
  const packet = { type: bytes.readUInt8(1), serialize: () => bytes }
  transport.sendRtcp([packet as unknown as RtcpPacket]).catch(() => undefined)
}
