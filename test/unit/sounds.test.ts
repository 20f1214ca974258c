import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { describe, expect, test } from 'vitest'
import { readSound } from '#server/ports/reader/sounds/read'
import { mostPieces } from '#server/ports/reader/sounds/sound'
import { secret } from '#test/support/pictures'
import { others, sounds } from '#test/support/sounds'

/** What another reader finds in a file. */
async function heard(bytes: Buffer) {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(Uint8Array.from(bytes)) })
  const tracks = await input.getTracks()
  const packets: string[] = []
  for (const track of tracks)
    for await (const packet of new EncodedPacketSink(track).packets())
      packets.push(`${packet.timestamp.toFixed(3)} ${Buffer.from(packet.data).toString('hex')}`)
  return { kinds: tracks.map(({ type }) => type), packets, tags: await input.getMetadataTags() }
}

const all = Object.entries(sounds)
const endings = { webm: 'weba', liveWebm: 'weba', ogg: 'ogg', mp4: 'm4a', liveMp4: 'm4a', opusMp4: 'm4a' } as const

describe.each(all)('%s', (name, make) => {
  test('is heard as it was, without what is written about it', async () => {
    const given = await make({ isTold: true })
    expect(given.includes(secret)).toBe(true)
    const read = readSound(given)
    expect(read?.ending).toBe(endings[name as keyof typeof endings])
    expect([read?.bytes.length, read?.bytes.includes(secret)]).toEqual([given.length, false])
    expect(read?.bytes.toString('latin1')).not.toMatch(/mediabunny/i)
    const [before, after] = [await heard(given), await heard(read?.bytes ?? Buffer.alloc(0))]
    expect(before.packets.length).toBe(50)
    expect(after).toMatchObject({ kinds: ['audio'], packets: before.packets })
    expect([after.tags.title, after.tags.artist, after.tags.comment]).toEqual([undefined, undefined, undefined])
  })

  test('is taken as it is where it says nothing of itself, and read again is the same', async () => {
    const once = readSound(await make())?.bytes ?? Buffer.alloc(0)
    expect(readSound(once)?.bytes).toEqual(once)
  })

  test('is none with a film, cut off, behind a text or before one', async () => {
    const given = await make()
    expect(readSound(given)).not.toBeNull()
    if (name !== 'ogg') expect(readSound(await make({ isFilm: true }))).toBeNull()
    for (const length of [given.length - 1, given.length - 7, given.length >> 1, 40, 12, 4, 0])
      expect([length, readSound(given.subarray(0, length))]).toEqual([length, null])
    const text = Buffer.from('<!doctype html><script>alert(1)</script>')
    expect(readSound(Buffer.concat([text, given]))).toBeNull()
    expect(readSound(Buffer.concat([given, text]))).toBeNull()
  })

  test('is read without a fault, whatever byte of it is another', async () => {
    const given = await make({ packets: 5, isTold: true })
    for (let at = 0; at < given.length; at++)
      for (const byte of [0, 1, 0x7f, 0x80, 0xff]) {
        const changed = Buffer.from(given)
        changed[at] = byte
        expect(readSound(changed)?.bytes.length ?? given.length).toBe(given.length)
      }
  })
})

test.each(Object.entries(others))('%s is none', async (_what, make) => expect(readSound(await make())).toBeNull())

test.each(['mp4', 'liveMp4', 'opusMp4'] as const)(
  '%s says neither when it was made nor where else it is, and nothing behind its codec',
  async (name) => {
    const given = await sounds[name]({ isTold: true })
    const of = (file: Buffer, type: string, from: number, to: number) =>
      [...file.toString('latin1').matchAll(new RegExp(type, 'g'))].map(({ index }) =>
        file.subarray(index + 4 + from, index + 4 + to),
      )
    for (const type of ['mvhd', 'tkhd', 'mdhd']) for (const times of of(given, type, 4, 12)) times.fill(0x55)
    for (const place of of(given, 'url ', 0, 4)) place.fill(0)
    const read = readSound(given)?.bytes ?? Buffer.alloc(0)
    expect(
      ['mvhd', 'tkhd', 'mdhd'].map((type) => of(read, type, 4, 12).every((one) => one.every((byte) => byte === 0))),
    ).toEqual([true, true, true])
    expect(of(read, 'url ', 0, 4)).toEqual([Buffer.from([0, 0, 0, 1])])
    expect((await heard(read)).packets.length).toBe(50)
  },
)

test('a first packet of an Ogg that says more than a head is none of a sound', async () => {
  const given = await sounds.ogg()
  const length = given[27] ?? 0
  const more = Buffer.from('place: here')
  const long = bytes(
    given.subarray(0, 27),
    Buffer.from([length + more.length]),
    given.subarray(28, 28 + length),
    more,
    given.subarray(28 + length),
  )
  long.writeUInt32LE(0, 22)
  long.writeUInt32LE(sumOf(long.subarray(0, 28 + length + more.length)), 22)
  expect(readSound(long)).toBeNull()
})

test('the pages of an Ogg have their own sums', async () => {
  const given = await sounds.ogg({ isTold: true })
  for (const ogg of [given, readSound(given)?.bytes ?? Buffer.alloc(0)]) {
    const starts = [...ogg.toString('latin1').matchAll(/OggS\0/g)].map(({ index }) => index)
    expect(starts.length).toBeGreaterThan(2)
    for (const [at, start] of starts.entries()) {
      const page = Buffer.from(ogg.subarray(start, starts[at + 1]))
      const told = page.readUInt32LE(22)
      page.writeUInt32LE(0, 22)
      expect(sumOf(page)).toBe(told)
    }
  }
})

/** As RFC 3533 has it, bit by bit. */
function sumOf(page: Buffer): number {
  let sum = 0
  for (const byte of page)
    for (let bit = 7; bit >= 0; bit--) {
      const isOdd = ((sum >>> 31) ^ ((byte >> bit) & 1)) === 1
      sum = (sum << 1) ^ (isOdd ? 0x04_c1_1d_b7 : 0)
    }
  return sum >>> 0
}

const bytes = (...parts: readonly (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)))

test.each([
  ['a picture', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  ['the head of a WebM, and HTML', bytes('\x1a\x45\xdf\xa3', '<script>alert(1)</script>')],
  ['the head of an MP4, and HTML', bytes('\0\0\0\x18ftypM4A \0\0\0\0', '<script>alert(1)</script>')],
  ['the head of an Ogg, and HTML', bytes('OggS\0', '<script>alert(1)</script>'.repeat(9))],
  ['WAV', bytes('RIFF\0\0\0\0WAVEfmt ')],
  ['MP3', bytes('ID3\x04\0\0\0\0\0\0')],
])('%s is no sound', (_what, given) => expect(readSound(given)).toBeNull())

test('HTML in an element that nobody plays is not there any more', async () => {
  const given = await sounds.liveWebm()
  const html = '<script>alert(1)</script>'
  const unknown = bytes('\x12\x54\xc3\x67', Buffer.from([0x80 | html.length]), html)
  const read = readSound(bytes(given, unknown))
  expect(read?.bytes.length).toBe(given.length + unknown.length)
  expect(read?.bytes.includes('script')).toBe(false)
  expect((await heard(read?.bytes ?? given)).packets.length).toBe(50)
})

test('O01: the boxes of a codec count among the pieces of a sound', async () => {
  const given = Buffer.from(await sounds.mp4())
  const [entry, parents] = [given.indexOf('mp4a'), ['stsd', 'stbl', 'minf', 'mdia', 'trak', 'moov']]
  const boxes = Buffer.alloc(8 * (mostPieces + 1), Buffer.from([0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65]))
  const end = entry - 4 + given.readUInt32BE(entry - 4)
  for (const at of [entry, ...parents.map((type) => given.indexOf(type))])
    given.writeUInt32BE(given.readUInt32BE(at - 4) + boxes.length, at - 4)
  expect(() => readSound(bytes(given.subarray(0, end), boxes, given.subarray(end)))).toThrow(
    `at most ${mostPieces} pieces`,
  )
})

test('a sound of too many pieces is refused, and says so', async () => {
  const pieces = Buffer.alloc(2 * (mostPieces + 1), Buffer.from([0xec, 0x80]))
  const given = bytes(await sounds.liveWebm(), pieces)
  expect(() => readSound(given)).toThrow(`at most ${mostPieces} pieces`)
})
