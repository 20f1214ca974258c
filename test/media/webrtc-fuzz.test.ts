import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  GenericNack,
  RTCPeerConnection,
  RtcpPacketConverter,
  RtcpTransportLayerFeedback,
  RtpHeader,
  RtpPacket,
  TransportWideCC,
} from 'werift'
import { opusSamples, splitLengthPrefixed } from '#server/media/h264'
import { limitMissing } from '#server/media/peer-limits'
import { createReorder, h264Reader, type Packet, vp9Reader } from '#server/media/rtp'
import { chooseOffer, createAlignment } from '#server/media/sdp'
import type { AudioFrame } from '#server/media/tracks'
import { twccCollector } from '#server/media/twcc'
import { createAacEncoder } from '#server/media/whip'
import { heavy } from '#test/support/heavy'
import { type Change, changes, damaged, isTaken, rounds } from './damage.ts'
import { pictures } from './pictures.ts'
import { packetsOf } from './rtp-packets.ts'

const ssrc = { sender: 1, media: 2 }

describe('packets of RTP', () => {
  const { config, frames } = pictures(8, { keyEvery: 4 })
  const ofVp9 = [...'0123'].map((_, index): Packet => {
    const payload = Buffer.from('8a8001 18027f016f 010401 824983420027f016f0aabb'.replaceAll(' ', ''), 'hex')
    return { sequence: 65_534 + index, timestamp: 3_000 * index, marker: true, payload }
  })
  interface Edit {
    at: number
    how: string
    list: Change[]
    number: number
  }
  const edit: fc.Arbitrary<Edit> = fc.record({
    at: fc.nat(),
    how: fc.constantFrom('damage', 'damage', 'drop', 'repeat', 'swap', 'renumber', 'restamp', 'mark'),
    list: changes,
    number: fc.nat(2 ** 32 - 1),
  })

  function edited(packets: readonly Packet[], edits: readonly Edit[]): Packet[] {
    const given = [...packets]
    for (const { at, how, list, number } of edits) {
      const from = at % given.length
      const packet = given[from]
      if (!packet) continue
      if (how === 'damage') given[from] = { ...packet, payload: damaged(packet.payload, list) }
      if (how === 'drop') given.splice(from, 1)
      if (how === 'repeat') given.splice(from, 0, packet)
      if (how === 'swap') given.splice(from, 1, ...given.splice(from + 1, 1), packet)
      if (how === 'renumber') given[from] = { ...packet, sequence: number & 0xffff }
      if (how === 'restamp') given[from] = { ...packet, timestamp: number }
      if (how === 'mark') given[from] = { ...packet, marker: !packet.marker }
    }
    return given
  }

  test.each([
    ['H264', h264Reader, packetsOf(config, frames)],
    ['VP9', vp9Reader, ofVp9],
  ] as const)('of %s, damaged and out of order, make whole pictures or none', (codec, reader, good) => {
    let told = 0
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 20 }), (edits) => {
        let now = 0
        const made = reader({
          config: ({ width, height }) => expect([width > 0, height > 0]).toEqual([true, true]),
          picture({ data }) {
            told++
            expect(data.length).toBeGreaterThan(0)
            if (codec === 'H264') expect(splitLengthPrefixed(data).length).toBeGreaterThan(0)
          },
        })
        const push = createReorder(() => (now += 10), made.push, made.lost)
        for (const packet of edited(good, edits)) push(packet)
      }),
      rounds,
    )
    expect(told).toBeGreaterThan(100)
  })

  test('a picture of a million tiny units is none, and little of it is held', () => {
    let told = 0
    const reader = h264Reader({ config: () => undefined, picture: () => told++ })
    const tiny = Buffer.concat([Buffer.from([24]), ...Array.from({ length: 400 }, () => Buffer.from([0, 1, 1]))])
    const before = process.memoryUsage().heapUsed
    for (let sequence = 0; sequence < 3_000; sequence++)
      reader.push({ sequence, timestamp: 1, marker: false, payload: tiny })
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 2 ** 20)
    reader.push({ sequence: 3_000, timestamp: 1, marker: true, payload: tiny })
    expect(told).toBe(0)
  })

  test.each([
    ['H264', h264Reader, ['fc8500', 'fc0500', 'fc4500']],
    ['VP9', vp9Reader, ['08824983420027f016f0', '00', '00']],
  ] as const)('a picture of %s in too many parts is none', (_codec, make, payloads) => {
    const pushed = (parts: number) => {
      let told = 0
      const reader = make({ config: () => undefined, picture: () => told++ })
      const [first, between, last] = payloads.map((hex) => Buffer.from(hex, 'hex'))
      for (let sequence = 0; sequence < parts; sequence++) {
        const isLast = sequence === parts - 1
        const payload = (sequence === 0 ? first : isLast ? last : between) ?? expect.fail()
        reader.push({ sequence, timestamp: 1, marker: isLast, payload })
      }
      return told
    }
    expect([pushed(1_000), pushed(20_000)]).toEqual([1, 0])
  })

  interface Asking {
    addPacket(packet: RtpPacket): void
    setLost(sequence: number, count: number): void
    close(): void
  }

  test('numbers that jump are not all asked for again', async () => {
    const connection = new RTCPeerConnection()
    const { receiver } = connection.addTransceiver('video')
    limitMissing(receiver)
    const { nack } = receiver as unknown as { nack: Asking }
    const setLost = vi.spyOn(nack, 'setLost')
    const push = (sequenceNumber: number) =>
      nack.addPacket(new RtpPacket(new RtpHeader({ sequenceNumber, ssrc: 1 }), Buffer.alloc(1)))
    for (let round = 0; round < 200; round++) for (const sequence of [65_535, 65_534, 3_000, 30_000, 10]) push(sequence)
    expect(setLost.mock.calls.length).toBe(0)
    for (const sequence of [40_000, 40_001, 40_004, 40_003]) push(sequence)
    expect(setLost.mock.calls.map(([sequence]) => sequence)).toEqual([40_002, 40_003])
    nack.close()
    await connection.close()
  })
})

describe('reports of RTCP', () => {
  const sender = (ntp: string, rtp: string) => `80c80006 00000002 ${ntp} ${rtp} 00000001 00000001`
  const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
  const nack = new RtcpTransportLayerFeedback({
    feedback: new GenericNack({ senderSsrc: 1, mediaSourceSsrc: 2, lost: [5, 6, 9] }),
  }).serialize()
  const good = Buffer.concat([
    hex(sender('e9000000 80000000', '00015f90')),
    nack,
    hex('81ce0002 00000001 00000002'),
    hex('81ca0002 00000002 01026162'),
  ])
  const workOf = (read: readonly object[]): number =>
    JSON.stringify(read, (_, one) => (typeof one === 'bigint' ? 0 : one)).length

  test('are read', () => {
    expect(RtcpPacketConverter.deSerialize(good).map(({ type }) => type)).toEqual([200, 205, 206, 202])
  })

  test('damaged, they are little work, and times stay numbers', () => {
    let reports = 0
    const times: number[] = []
    const aligned = createAlignment(
      () => 0,
      ['video'],
      { audio: 48_000 },
      {
        video: ({ time }) => void times.push(time),
        audio: () => undefined,
      },
    )
    fc.assert(
      fc.property(changes, (list) => {
        let read: ReturnType<typeof RtcpPacketConverter.deSerialize> = []
        try {
          read = RtcpPacketConverter.deSerialize(damaged(good, list))
        } catch {
          // What reads them leaves out the whole.
        }
        expect(workOf(read)).toBeLessThan(100_000)
        for (const report of read)
          if ('senderInfo' in report && report.senderInfo) {
            reports++
            aligned.report('video', Number(report.senderInfo.ntpTimestamp) / 2 ** 32, report.senderInfo.rtpTimestamp)
            aligned.video({ time: report.senderInfo.rtpTimestamp, offset: 0, key: true, data: Buffer.alloc(1) })
          }
      }),
      rounds,
    )
    expect(reports).toBeGreaterThan(100)
    expect(times.every(Number.isSafeInteger)).toBe(true)
  })

  test.each([
    ['says of 65,535 packets when they came', hex('8fcd0005 00000001 00000002 0001ffff 000000 00 3fff 3fff')],
    ['is made of dozens of others', Buffer.concat(Array.from({ length: 60 }, () => nack))],
    ['is larger than a datagram', Buffer.concat([good, Buffer.alloc(2_000)])],
  ])('one that %s is not read', (_what, bytes) => {
    const read = vi.spyOn(TransportWideCC, 'deSerialize')
    expect(RtcpPacketConverter.deSerialize(bytes)).toEqual([])
    expect(read).not.toHaveBeenCalled()
    read.mockRestore()
  })
})

test('pictures that wait for their sound are few megabytes', () => {
  let given = 0
  const to = { video: () => void given++, audio: () => undefined }
  const aligned = createAlignment(() => 0, ['video', 'audio'], { audio: 48_000 }, to)
  const data = Buffer.alloc(2 ** 20)
  for (let time = 0; time < 20; time++) aligned.video({ time, offset: 0, key: true, data })
  expect(given).toBe(20)
})

describe('when packets came', () => {
  test('is told whatever numbers they have', () => {
    const step = fc.constantFrom(1, 1, 1, 2, 3, 99, 998, 999, 1_000, 1_001, 1_002, 30_000, 65_535)
    let told = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.boolean(), fc.nat(200_000)), { maxLength: 60 }), (steps) => {
        let [sequence, micros] = [0, 0]
        const collector = twccCollector(
          () => micros,
          (make) => {
            told++
            const bytes = make(ssrc)
            expect([bytes.length % 4, (bytes.readUInt16BE(2) + 1) * 4]).toEqual([0, bytes.length])
            expect(bytes.readUInt16BE(14)).toBeLessThanOrEqual(1_000)
          },
        )
        for (const [ahead, isFlushed, later] of steps) {
          ;[sequence, micros] = [(sequence + ahead) & 0xffff, micros + later]
          collector.handleTWCC(sequence)
          if (isFlushed) collector.flush()
        }
        collector.flush()
      }),
      rounds,
    )
    expect(told).toBeGreaterThan(300)
  })
})

describe('offers', () => {
  const codecs = (first: number, name: string) =>
    Array.from({ length: 6 }, (_, index) => [
      `a=rtpmap:${first + 2 * index} ${name}/90000`,
      `a=fmtp:${first + 2 * index} level-asymmetry-allowed=1;packetization-mode=${index % 2};profile-level-id=42e01f`,
      `a=rtpmap:${first + 2 * index + 1} rtx/90000`,
      `a=fmtp:${first + 2 * index + 1} apt=${first + 2 * index}`,
    ]).flat()
  const good = [
    ...['v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0 1'],
    ...['m=audio 9 UDP/TLS/RTP/SAVPF 111 63', 'c=IN IP4 0.0.0.0', 'a=mid:0', 'a=rtpmap:111 opus/48000/2'],
    ...[
      'm=video 9 UDP/TLS/RTP/SAVPF 96 97',
      'c=IN IP4 0.0.0.0',
      'a=mid:1',
      ...codecs(96, 'H264'),
      ...codecs(40, 'VP9'),
    ],
    'a=candidate:1 1 udp 2113937151 192.0.2.1 50000 typ host',
  ].join('\r\n')

  test('damaged, they are read or refused, and nothing is added to them', () => {
    const counts = { taken: 0, refused: 0 }
    fc.assert(
      fc.property(changes, (list) => {
        const offer = damaged(Buffer.from(good), list).toString('latin1')
        const isRead = isTaken(() => {
          const chosen = chooseOffer(offer)
          if (!chosen) return
          const lines = new Set(offer.split(/\r?\n/))
          const others = chosen.sdp.split('\r\n').filter((line) => !lines.has(line) && !line.startsWith('m='))
          expect(others.filter((line) => line !== '')).toEqual([])
        })
        counts[isRead ? 'taken' : 'refused']++
      }),
      rounds,
    )
    expect([counts.taken > 0, counts.refused > 0]).toEqual([true, true])
  })

  test('as long as they may be, they are little work', () => {
    const many = Array.from({ length: 1_900 }, (_, index) => `a=rtpmap:${index % 1_000} x/9`)
    const long = ['v=0', 'm=video 9 x 96', ...many, 'm=audio 9 x 1'].join('\r\n')
    const started = performance.now()
    for (let round = 0; round < 40; round++) chooseOffer(long)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe('packets of Opus', () => {
  beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined))
  afterEach(() => void vi.restoreAllMocks())
  const silence = Buffer.from('f8fffe', 'hex')

  test('are no longer than a packet can be', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4 }), (bytes) => {
        expect(opusSamples(bytes) >= 0 && opusSamples(bytes) <= 5_760).toBe(true)
      }),
      rounds,
    )
  })

  test('of any bytes and any size are sound or silence, and what follows is heard', heavy, async () => {
    const heard: AudioFrame[] = []
    let now = 0
    const encoder = await createAacEncoder(
      (frame) => heard.push(frame),
      () => now,
    )
    const packet = fc.oneof(
      changes.map((list) => damaged(silence, list)),
      fc.uint8Array({ maxLength: 1_300 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(Buffer.alloc(7_681, 1), Buffer.alloc(60_000, 0xfc)),
    )
    const given = fc.tuple(fc.oneof(fc.nat(96_000), fc.nat(2 ** 32)), packet)
    fc.assert(
      fc.property(given, ([time, data]) => encoder.push({ time, duration: 960, data })),
      rounds,
    )
    let time = 2 ** 33
    now = 60_000
    const after = () => {
      time += 960
      encoder.push({ time, duration: 960, data: silence })
      return heard.filter((frame) => frame.time > 2 ** 33).length
    }
    await expect.poll(after, { interval: 5, timeout: 30_000 }).toBeGreaterThan(20)
    encoder.close()
  })

  test('that leave out much are not filled with more silence than there is time for', async () => {
    const heard: AudioFrame[] = []
    let now = 0
    const encoder = await createAacEncoder(
      (frame) => heard.push(frame),
      () => now,
    )
    const push = (index: number) => encoder.push({ time: index * 90_000, duration: 960, data: silence })
    for (let index = 0; index < 150; index++) push(index)
    const ends = () => (heard.at(-1)?.time ?? 0) / 48_000
    await expect.poll(() => ends(), { timeout: 30_000 }).toBeGreaterThan(9)
    // All that was taken is made, as it is made in turn.
    now = 1_000_000
    encoder.push({ time: 2 ** 33, duration: 960, data: silence })
    for (let index = 1; index < 20; index++) encoder.push({ time: 2 ** 33 + index * 960, duration: 960, data: silence })
    await expect.poll(() => ends(), { timeout: 30_000 }).toBeGreaterThan(100_000)
    expect(heard.filter(({ time }) => time < 2 ** 32).length).toBeLessThan((13 * 48_000) / 1_024)
    encoder.close()
  })
})
