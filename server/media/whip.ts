import { registerAacEncoder } from '@mediabunny/aac-encoder'
import { AdtsOutputFormat, AudioSample, AudioSampleSource, NullTarget, Output } from 'mediabunny'
import { OpusDecoder } from 'opus-decoder'
import {
  MediaStreamTrack,
  type RTCDtlsTransport,
  type RTCRtpReceiver,
  type RTCRtpTransceiver,
  type RtcpPacket,
  type RtpPacket,
} from 'werift'
import type { Clock } from './clock.ts'
import { aacOf, aacSamples, opusConfig, opusRate, opusSamples } from './h264.ts'
import { answerOffer, openPeer, type PeerSettings } from './peer.ts'
import { limitMissing } from './peer-limits.ts'
import type { Publisher } from './rtmp.ts'
import { createReorder, h264Reader, type Packet, unwrapper, vp9Reader } from './rtp.ts'
import { type ChosenOffer, createAlignment, type Kind, withStartBitrate } from './sdp.ts'
import type { AudioFrame } from './tracks.ts'
import { twccCollector } from './twcc.ts'

interface AacEncoder {
  push(opus: AudioFrame): void
  close(): void
}

const channels = 2
const bitrate = 128_000
/** What the encoder puts before the sound. */
const priming = 1024
const longestSilence = 2 * opusRate
const mostWaiting = 200
/** The most that a sender may be ahead of real time, as silence costs as much to encode as sound. */
const mostAheadSamples = 10 * opusRate
/** What the decoder takes: 120 ms of the best sound there is. */
const mostPacketBytes = 7_680

/** Transcodes Opus to AAC for HLS players, at 48 kHz. Gaps become silence, so that sound stays with the picture. */
export async function createAacEncoder(
  hear: (frame: AudioFrame) => void,
  now: () => number = () => performance.now(),
): Promise<AacEncoder> {
  registerAacEncoder()
  const decoder = new OpusDecoder({ channels, forceStereo: true })
  await decoder.ready
  /** From samples that the encoder counts to the clock of the track; it grows where the sound jumps. */
  let shift: number | null = null
  let given = 0
  let made = 0
  let waiting = 0
  let isClosed = false
  const shifts: { from: number; shift: number }[] = []
  let credit = mostAheadSamples
  let creditedAt = now()
  const source = new AudioSampleSource({
    codec: 'aac',
    bitrate,
    onEncodedPacket(packet) {
      if (isClosed) return
      const at = made
      made += aacSamples
      while (shifts[1] && shifts[1].from <= at) shifts.shift()
      const time = at - priming + (shifts[0]?.shift ?? 0)
      hear({ time, duration: aacSamples, data: Buffer.from(packet.data) })
    },
  })
  const output = new Output({ format: new AdtsOutputFormat(), target: new NullTarget() })
  output.addAudioTrack(source)
  await output.start()
  let last: Promise<unknown> = Promise.resolve()

  function add(data: Float32Array, samples: number): void {
    const timestamp = given / opusRate
    given += samples
    credit -= samples
    waiting++
    last = last
      .then(async () => {
        const sample = new AudioSample({
          data,
          format: 'f32-planar',
          numberOfChannels: channels,
          sampleRate: opusRate,
          timestamp,
        })
        try {
          if (!isClosed) await source.add(sample)
        } finally {
          sample.close()
          waiting--
        }
      })
      .catch(() => undefined)
  }

  /** Where the sender is too far ahead, what it sends is left out. */
  function isAhead(): boolean {
    const at = now()
    credit = Math.min(mostAheadSamples, credit + ((at - creditedAt) / 1000) * opusRate)
    creditedAt = at
    return credit <= 0
  }

  function follow(time: number): boolean {
    const missing = shift === null ? 0 : time - shift - given
    if (missing < -aacSamples && missing > -longestSilence) return false
    if (shift === null || Math.abs(missing) > longestSilence) {
      shift = time - given
      // Of several jumps before the next sound the last one holds.
      if (shifts.at(-1)?.from === given) shifts.pop()
      shifts.push({ from: given, shift })
    } else if (missing > aacSamples) add(new Float32Array(missing * channels), missing)
    return true
  }

  return {
    push({ time, data }) {
      // Faster senders than the encoder lose packets.
      if (isClosed || waiting > mostWaiting || data.length > mostPacketBytes || isAhead() || !follow(time)) return
      const { channelData, samplesDecoded } = decoder.decodeFrame(data)
      if (samplesDecoded === 0) return
      const planes = new Float32Array(samplesDecoded * channels)
      for (const [index, plane] of channelData.slice(0, channels).entries())
        planes.set(plane.subarray(0, samplesDecoded), index * samplesDecoded)
      add(planes, samplesDecoded)
    },
    close() {
      if (isClosed) return
      isClosed = true
      decoder.free()
      output.cancel().catch(() => undefined)
    },
  }
}

interface WhipOptions {
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

/** What a browser publishes, as it comes. */
export interface Source {
  video: 'H264' | 'VP9' | null
  /** Returns what ends it. */
  subscribe(hear: (kind: Kind, packet: RtpPacket) => void): () => void
  askForKey(): void
}

/** Passes packets on as they are: nothing is decoded, and what was lost is sent again from what was sent. */
export async function answerWhep(
  { sdp }: ChosenOffer,
  source: Source,
  options: { peers: PeerSettings; clock: Clock },
  heard: { connected(): void; closed(): void },
): Promise<{ answer: string; close(): void }> {
  const tracks = { video: new MediaStreamTrack({ kind: 'video' }), audio: new MediaStreamTrack({ kind: 'audio' }) }
  const unsubscribe = source.subscribe((kind, packet) => {
    const copy = packet.clone()
    // They are numbered otherwise on each connection.
    copy.header.extensions = []
    tracks[kind].writeRtp(copy)
  })
  const peer = openPeer(options.peers, source.video ?? 'H264', options.clock, () => {
    unsubscribe()
    heard.closed()
  })
  peer.connection.connectionStateChange.subscribe((state) => {
    if (state !== 'connected') return
    heard.connected()
    source.askForKey()
  })

  async function prepare(transceivers: readonly RTCRtpTransceiver[]): Promise<void> {
    for (const transceiver of transceivers) {
      transceiver.setDirection('sendonly')
      await transceiver.sender.replaceTrack(transceiver.kind === 'audio' ? tracks.audio : tracks.video)
      transceiver.sender.onPictureLossIndication.subscribe(source.askForKey)
    }
  }

  try {
    return { answer: await answerOffer(peer.connection, sdp, prepare), close: peer.close }
  } catch (error) {
    peer.close()
    throw error
  }
}
