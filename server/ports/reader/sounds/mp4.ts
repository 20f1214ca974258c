import { need } from '../pictures/picture.ts'
import { pieceCounter, type Sound } from './sound.ts'

interface Shape {
  readonly [type: string]: Shape | 'data'
}

const leaves = (...types: readonly string[]): Shape => Object.fromEntries(types.map((type) => [type, 'data']))

/** The boxes of a voice message (ISO/IEC 14496-12), in one piece or in fragments. What is written about it (`udta`, `meta`, `uuid`) is not among them. */
const shape: Shape = {
  ...leaves('ftyp', 'styp', 'sidx', 'mdat'),
  moov: {
    mvhd: 'data',
    trak: {
      tkhd: 'data',
      edts: leaves('elst'),
      mdia: {
        ...leaves('mdhd', 'hdlr'),
        minf: {
          smhd: 'data',
          dinf: leaves('dref'),
          stbl: leaves('stsd', 'stts', 'stsc', 'stsz', 'stz2', 'stco', 'co64', 'sgpd', 'sbgp'),
        },
      },
    },
    mvex: leaves('mehd', 'trex'),
  },
  moof: { mfhd: 'data', traf: leaves('tfhd', 'tfdt', 'trun', 'sgpd', 'sbgp', 'saiz', 'saio') },
  mfra: leaves('tfra', 'mfro'),
}

/** An MP4 with one track, of AAC or Opus. Throws `Unsound` where it is none, holds anything else that is played, or ends within a box. */
export function readMp4(given: Buffer): Sound {
  const bytes = Buffer.from(given)
  const count = pieceCounter()
  const seen = { tracks: 0, codecs: 0, played: 0 }

  const look = (type: string, data: Buffer) => {
    if (type === 'trak') seen.tracks += 1
    if (type === 'mdat') seen.played += data.length
    if (type === 'hdlr') {
      need(data.length >= handlerName)
      data.fill(0, handlerName)
    }
    if (timed.includes(type)) blankTimes(data)
    if (type === 'dref') blankPlace(data)
    if (type === 'stsd') {
      need(data.length >= 16 && data.readUInt32BE(4) === 1)
      need(['mp4a', 'Opus'].includes(data.toString('latin1', 12, 16)))
      blankCodec(data, count)
      seen.codecs += 1
    }
  }
  const walk = (from: number, to: number, within: Shape) => {
    let at = from
    while (at < to) {
      count()
      const { type, start, end } = boxAt(bytes, at, to)
      const holds = Object.hasOwn(within, type) ? within[type] : undefined
      if (holds === undefined) bytes.write('free', at + 4, 'latin1') && bytes.fill(0, start, end)
      else look(type, bytes.subarray(start, end))
      if (typeof holds === 'object') walk(start, end, holds)
      at = end
    }
  }

  need(bytes.toString('latin1', 4, 8) === 'ftyp')
  walk(0, bytes.length, shape)
  need(seen.tracks === 1 && seen.codecs === 1 && seen.played > 0)
  return { ending: 'm4a', bytes }
}

/** What begins with when it was made and changed, behind its version: in 64 bits from version 1 on. */
const timed = ['mvhd', 'tkhd', 'mdhd']

function blankTimes(data: Buffer): void {
  const end = data[0] === 0 ? 12 : 20
  need(data.length >= end)
  data.fill(0, 4, end)
}

/** Its sound is in this file, and nowhere else. */
function blankPlace(data: Buffer): void {
  need(data.length >= 20 && data.readUInt32BE(4) === 1)
  data.write('url ', 12, 'latin1')
  data.fill(0, 16)
  data[19] = 1
}

/** The length of a sound entry's fields by version (ISO/IEC 14496-12; QuickTime). The boxes after them describe the decoding. */
const fieldsOfSound: Readonly<Record<number, number>> = { 0: 36, 1: 52, 2: 72 }
const decoding = ['esds', 'dOps', 'btrt', 'wave', 'chan', 'srat']

function blankCodec(data: Buffer, count: () => void): void {
  const entry = boxAt(data, 8, data.length)
  need(data.length >= 26)
  const fields = fieldsOfSound[data.readUInt16BE(24)]
  need(fields !== undefined && 8 + fields <= entry.end)
  for (let at = 8 + fields; at < entry.end; ) {
    count()
    const { type, start, end } = boxAt(data, at, entry.end)
    if (!decoding.includes(type)) data.write('free', at + 4, 'latin1') && data.fill(0, start, end)
    at = end
  }
  data.fill(0, entry.end)
}

/** Behind its version, what it was before, its type and three numbers. */
const handlerName = 24

/** A box: where what it holds starts and ends. */
function boxAt(bytes: Buffer, at: number, to: number): { type: string; start: number; end: number } {
  need(at + 8 <= to)
  const type = bytes.toString('latin1', at + 4, at + 8)
  const short = bytes.readUInt32BE(at)
  if (short !== 1) {
    // Without a length it reaches to the end of the file.
    const end = short === 0 && to === bytes.length ? to : at + short
    need(end >= at + 8 && end <= to)
    return { type, start: at + 8, end }
  }
  need(at + 16 <= to)
  const end = at + bytes.readUInt32BE(at + 8) * 2 ** 32 + bytes.readUInt32BE(at + 12)
  need(end >= at + 16 && end <= to)
  return { type, start: at + 16, end }
}
