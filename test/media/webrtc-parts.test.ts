import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitLengthPrefixed } from '#server/media/h264'
import { createReorder, h264Reader, type Packet, unwrapper, vp9Reader } from '#server/media/rtp'
import { chooseOffer, createAlignment, withStartBitrate } from '#server/media/sdp'
import type { VideoConfig } from '#server/media/tracks'
import { twccCollector, twccFeedback } from '#server/media/twcc'
import { pictures, silence } from './pictures.ts'
import { packetsOf } from './rtp-packets.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const packet = (sequence: number, more: Partial<Packet> = {}): Packet => ({
  sequence: sequence & 0xffff,
  timestamp: 0,
  marker: true,
  payload: Buffer.from([sequence & 255]),
  ...more,
})

function offer(video: readonly string[], audio: readonly string[] = ['111 opus/48000/2']) {
  const section = (kind: string, codecs: readonly string[]) => [
    `m=${kind} 9 UDP/TLS/RTP/SAVPF ${codecs.map((codec) => codec.split(' ')[0]).join(' ')}`,
    'c=IN IP4 0.0.0.0',
    `a=mid:${kind}`,
    ...codecs.flatMap((codec) => {
      const [type, name, format] = codec.split(' ')
      return [`a=rtpmap:${type} ${name}`, ...(format ? [`a=fmtp:${type} ${format}`] : []), `a=rtcp-fb:${type} nack`]
    }),
  ]
  return ['v=0', 'o=- 1 1 IN IP4 0.0.0.0', 's=-', ...section('audio', audio), ...section('video', video), ''].join(
    '\r\n',
  )
}
const vp8 = '96 VP8/90000'
const vp9 = '98 VP9/90000 profile-id=0'
const h264 = '102 H264/90000 packetization-mode=1;profile-level-id=42e01f'

describe('what is taken of an offer', () => {
  test.each([
    [
      'H264 in whole packets, with what is sent again',
      [vp8, '97 rtx/90000 apt=96', vp9, '100 H264/90000 packetization-mode=0', h264, '103 rtx/90000 apt=102'],
      'H264',
      '102 103',
    ],
    ['VP9 where there is no H264', [vp8, '97 VP9/90000 profile-id=2', vp9, '99 rtx/90000 apt=98'], 'VP9', '98 99'],
  ])('%s', (_what, codecs, video, types) => {
    const chosen = chooseOffer(offer(codecs, ['111 opus/48000/2', '0 PCMU/8000']))
    expect(chosen).toMatchObject({ video, audio: true })
    expect(chosen?.sdp).toContain(`m=video 9 UDP/TLS/RTP/SAVPF ${types}\r\n`)
    expect(chosen?.sdp).toContain('m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n')
    expect(
      chosen?.sdp
        .match(/a=rtpmap:(\d+)/g)
        ?.map((line) => line.slice(9))
        .join(' '),
    ).toBe(`111 ${types}`)
  })

  test.each([
    'udp 1 192.0.2.1 50000 typ host',
    'udp 1 2001:db8::1 50000 typ srflx raddr 10.0.0.1 rport 9',
    'udp 1 10.0.0.1 50000 typ host',
    'UDP 1 127.0.0.1 50000 typ host',
    'tcp 1 192.0.2.1 50000 typ host tcptype passive',
    'udp 1 b1946ac9.local 50000 typ host',
    'udp 1 database.internal 27017 typ host',
  ])('nobody is called where it says somebody is: %s', (place) => {
    const given = offer([h264]).replace('a=mid:video', `a=mid:video\r\na=candidate:1 1 ${place}`)
    expect(given).toContain(place)
    expect(chooseOffer(`${given}a=candidate:2 1 ${place}\r\n`)?.sdp).toBe(chooseOffer(offer([h264]))?.sdp)
  })

  test('nothing where pictures are of another codec', () => expect(chooseOffer(offer([vp8]))).toBeNull())

  test.each(['', 'x', 'm=video', `v=0\r\n${'m=video 9 x 1\r\n'.repeat(9)}`, `v=0\r\n${'a=x\r\n'.repeat(50_000)}`])(
    'no offer is refused: %.20s',
    (text) => expect(() => chooseOffer(text)).toThrow(RangeError),
  )

  test('random lines are read or refused', () => {
    const lines = fc.constantFrom(
      'v=0',
      'm=video 9 x 96',
      'm=audio 9 x 1',
      'a=rtpmap:96 H264/90000',
      'a=fmtp:96 packetization-mode=1',
      'a=rtpmap:',
      'm=',
      '',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(lines, fc.string()), { maxLength: 30 }), (given) => {
        try {
          chooseOffer(given.join('\r\n'))
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })

  test('an answer names the bitrate to begin with', () => {
    expect(withStartBitrate(offer([h264, '103 rtx/90000 apt=102']), 2500)).toContain(
      'a=fmtp:102 packetization-mode=1;profile-level-id=42e01f;x-google-start-bitrate=2500\r\n',
    )
  })
})

describe('packets', () => {
  test('numbers go on where they wrap', () => {
    const unwrap = unwrapper(2 ** 16)
    expect([65_534, 65_535, 0, 2, 1, 65_535].map(unwrap)).toEqual([65_534, 65_535, 65_536, 65_538, 65_537, 65_535])
  })

  test('are put in order, and what does not come is left out after a while', () => {
    let now = 0
    const heard: (number | string)[] = []
    const push = createReorder(
      () => now,
      ({ payload }) => heard.push(payload.readUInt8()),
      () => heard.push('lost'),
    )
    for (const sequence of [65_535, 65_537, 65_536, 65_536, 65_539]) push(packet(sequence))
    expect(heard).toEqual([255, 0, 1])
    now = 401
    push(packet(65_540))
    expect(heard).toEqual([255, 0, 1, 'lost', 3, 4])
    push(packet(65_538))
    expect(heard).toEqual([255, 0, 1, 'lost', 3, 4])
  })

  test('of random order and loss are told once each, in order, and few are held', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { maxLength: 300 }), (sequences) => {
        let now = 0
        let last = -1
        const unwrap = unwrapper(2 ** 16)
        const push = createReorder(
          () => now++,
          ({ sequence }) => {
            const place = unwrap(sequence)
            expect(place).toBeGreaterThan(last)
            last = place
          },
          () => undefined,
        )
        for (const sequence of sequences) push(packet(sequence))
      }),
    )
  })
})

function reading(make: typeof h264Reader) {
  const heard = { configs: [] as VideoConfig[], pictures: [] as { timestamp: number; key: boolean; data: Buffer }[] }
  const reader = make({
    config: (config) => heard.configs.push(config),
    picture: (picture) => heard.pictures.push(picture),
  })
  return { reader, heard }
}

describe('pictures in packets', () => {
  test('of H264, whole, together and in parts', () => {
    const { config, frames } = pictures(12)
    const { reader, heard } = reading(h264Reader)
    for (const one of packetsOf(config, frames)) reader.push(one)
    expect(heard.configs[0]).toEqual(config)
    expect(heard.pictures.map(({ key }) => key)).toEqual(frames.map(({ key }) => key))
    expect(heard.pictures.map(({ data }) => splitLengthPrefixed(data))).toEqual(
      frames.map(({ data }) => splitLengthPrefixed(data)),
    )
  })

  test('a picture that lost a part is none', () => {
    const { config, frames } = pictures(3)
    const packets = packetsOf(config, frames)
    const { reader, heard } = reading(h264Reader)
    for (const [index, one] of packets.entries()) {
      if (index === 3) reader.lost()
      else reader.push(one)
    }
    expect(heard.pictures.map(({ timestamp }) => timestamp)).toEqual(frames.slice(1).map(({ time }) => time))
  })

  test('of VP9, with what is said of them before each packet', () => {
    const { reader, heard } = reading(vp9Reader)
    const key = hex('824983420027f016f0 aabb')
    reader.push(
      packet(1, {
        marker: false,
        timestamp: 5,
        payload: Buffer.concat([hex('8a 8001 18 027f 016f 01 04 01'), key.subarray(0, 5)]),
      }),
    )
    reader.push(packet(2, { timestamp: 5, payload: Buffer.concat([hex('84 8001'), key.subarray(5)]) }))
    expect(heard.pictures).toEqual([{ timestamp: 5, key: true, data: key }])
    expect(heard.configs[0]).toMatchObject({ width: 640, height: 368, kind: 'vp09' })
  })

  test.each([
    ['H264', h264Reader],
    ['VP9', vp9Reader],
  ])('random packets of %s are read or thrown away', (_codec, make) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.boolean(), fc.nat(3)), { maxLength: 30 }),
        (given) => {
          const { reader } = reading(make)
          for (const [payload, marker, timestamp] of given)
            reader.push(packet(0, { payload: Buffer.from(payload), marker, timestamp }))
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('what came when, for the sender', () => {
  const ssrc = { sender: 1, media: 2 }

  test('names each packet from the base on, those that are missing as well', () => {
    const bytes = twccFeedback(
      [
        { sequence: 10, micros: 128_000 },
        { sequence: 13, micros: 128_500 },
        { sequence: 14, micros: 300_000 },
      ],
      9,
      7,
      ssrc,
    )
    expect(bytes.toString('hex')).toBe(
      // head, ssrcs, base 9, 6 statuses, reference 2, count 7; runs: 1 missing, 1 small, 2 missing, 1 small, 1 large; deltas 0, 2, 686; padding
      'afcd0008 00000001 00000002 0009 0006 000002 07 0001 2001 0002 2001 4001 00 02 02ae 0002'.replaceAll(' ', ''),
    )
  })

  test('goes on with the next packet, however late the last one was', () => {
    const sent: Buffer[] = []
    let now = 0
    const collector = twccCollector(
      () => now,
      (make) => sent.push(make(ssrc)),
    )
    for (const sequence of [65_534, 65_535, 1]) collector.handleTWCC(sequence)
    collector.flush()
    collector.handleTWCC(0)
    now = 50_000
    collector.handleTWCC(3)
    collector.flush()
    collector.flush()
    expect(sent.map((bytes) => [bytes.readUInt16BE(12), bytes.readUInt16BE(14)])).toEqual([
      [65_534, 4],
      [2, 2],
    ])
    expect(sent.every((bytes) => bytes.length % 4 === 0 && (bytes.readUInt16BE(2) + 1) * 4 === bytes.length)).toBe(true)
  })
})

describe('pictures and sounds on one clock', () => {
  const align = (kinds: readonly ('video' | 'audio')[] = ['video', 'audio']) => {
    const heard: string[] = []
    const clock = { now: 0 }
    const alignment = createAlignment(
      () => clock.now,
      kinds,
      { audio: 48_000 },
      {
        video: ({ time }) => heard.push(`v ${(time / 90_000).toFixed(3)}`),
        audio: ({ time }) => heard.push(`a ${(time / 48_000).toFixed(3)}`),
      },
    )
    const video = (seconds: number) =>
      alignment.video({ time: Math.round(seconds * 90_000), offset: 0, key: true, data: silence })
    const audio = (seconds: number) =>
      alignment.audio({ time: Math.round(seconds * 48_000), duration: 960, data: silence })
    return { heard, clock, alignment, video, audio }
  }

  test('are held until the sender says how its clocks meet', () => {
    const { heard, alignment, video, audio } = align()
    video(100)
    audio(7)
    alignment.report('video', 1000, 100 * 90_000)
    expect(heard).toEqual([])
    alignment.report('audio', 1000.25, 7 * 48_000)
    video(100.5)
    audio(7.5)
    expect(heard).toEqual(['v 1000.000', 'a 1000.250', 'v 1000.500', 'a 1000.750'])
  })

  test('without such reports meet where they arrive', () => {
    const { heard, clock, video, audio } = align()
    clock.now = 1_000
    video(100)
    clock.now = 1_040
    audio(7)
    clock.now = 1_050
    video(100.033)
    clock.now = 3_600
    audio(9.7)
    expect(heard).toEqual(
      ['v 1.000', 'v 1.033', 'a 0.900', 'a 3.600'].sort((a, b) => Number(a.slice(2)) - Number(b.slice(2))),
    )
  })

  test('of one kind alone are not held', () => {
    const { heard, video } = align(['video'])
    video(3)
    expect(heard).toHaveLength(1)
  })
})
