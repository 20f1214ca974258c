import { crc32, deflateSync } from 'node:zlib'

/** What must not be left of a picture that was cleaned. */
export const secret = 'GPS 52.5163,13.3777'

interface Made {
  width?: number
  height?: number
  frames?: number
  orientation?: number
  profile?: Buffer
  /** Between which parts something is written about the picture. */
  about?: readonly number[]
}

/** These parts, with something written about the picture between some of them; never before the first. */
function withAbout(parts: readonly Buffer[], about: readonly number[], notes: readonly Buffer[]): Buffer {
  const places = about.map((place) => 1 + (place % Math.max(1, parts.length - 1)))
  return Buffer.concat(
    parts.flatMap((part, at) => [
      ...places.flatMap((place, which) => (place === at ? [notes[which % notes.length] as Buffer] : [])),
      part,
    ]),
  )
}

/** Exif that says how a picture is turned, and nothing else. */
export function tiffOf(orientation: number): Buffer {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex')
  tiff.writeUInt16BE(orientation, 18)
  return tiff
}

/** Exif of a camera: in the other order of bytes, and with more in it. */
function cameraExif(orientation: number): Buffer {
  const tiff = Buffer.alloc(200)
  tiff.write('II*\0', 'latin1')
  tiff.writeUInt32LE(8, 4)
  tiff.writeUInt16LE(2, 8)
  tiff.writeUInt16LE(0x01_0f, 10)
  tiff.writeUInt16LE(2, 12)
  tiff.writeUInt16LE(0x01_12, 22)
  tiff.writeUInt16LE(3, 24)
  tiff.writeUInt32LE(1, 26)
  tiff.writeUInt16LE(orientation, 30)
  tiff.write(secret, 60)
  return tiff
}

const size = (made: Made) => ({ width: made.width ?? 300, height: made.height ?? 200 })
const word = (value: number) => Buffer.from([value >> 8, value & 255])

export function jpegOf(made: Made = {}): Buffer {
  const segment = (code: number, data: Buffer | string) =>
    Buffer.concat([Buffer.from([0xff, code]), word(data.length + 2), Buffer.from(data as string, 'latin1')])
  const { width, height } = size(made)
  const frame = Buffer.concat([Buffer.from([8]), word(height), word(width), Buffer.from('01011100', 'hex')])
  const scan = (bytes: string) =>
    Buffer.concat([segment(0xda, Buffer.from('0101003f00', 'hex')), Buffer.from(bytes, 'hex')])
  const exif =
    made.orientation === undefined
      ? []
      : [segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), cameraExif(made.orientation)]))]
  const profile =
    made.profile === undefined
      ? []
      : [segment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0\x01\x01'), made.profile]))]
  return withAbout(
    [
      Buffer.from('ffd8', 'hex'),
      segment(0xe0, Buffer.from('4a46494600010100004800480000', 'hex')),
      ...exif,
      ...profile,
      segment(0xee, Buffer.from('41646f62650064000000000 1'.replace(' ', ''), 'hex')),
      segment(0xdb, Buffer.alloc(65, 1)),
      segment(0xc2, frame),
      segment(0xc4, Buffer.alloc(19, 1)),
      scan('12ff0034ffd056'),
      scan('78ff00ffd19a'),
      Buffer.from('ffd9', 'hex'),
    ],
    made.about ?? [],
    [
      segment(0xfe, secret),
      segment(0xe1, `http://ns.adobe.com/xap/1.0/\0${secret}`),
      segment(0xed, `Photoshop 3.0\0${secret}`),
      segment(0xe2, `MPF\0${secret}`),
      segment(0xe0, `JFXX\0${secret}`),
    ],
  )
}

export function pngOf(made: Made = {}): Buffer {
  const chunk = (type: string, data: Buffer | string) => {
    const named = Buffer.concat([Buffer.from(type), Buffer.from(data as string, 'latin1')])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(named))
    return Buffer.concat([length, named, sum])
  }
  const { width, height } = size(made)
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 0, 0, 0, 0], 8)
  const frameHead = (at: number) => {
    const whole = Buffer.alloc(26)
    whole.writeUInt32BE(2 * at, 0)
    head.copy(whole, 4, 0, 8)
    return whole
  }
  const rows = deflateSync(Buffer.alloc(width * height > 1_000_000 ? 8 : (width + 1) * height))
  const frames = Array.from({ length: made.frames ?? 0 }, (_, at) => [
    chunk('fcTL', frameHead(at)),
    chunk('fdAT', Buffer.concat([Buffer.alloc(4), rows])),
  ])
  return withAbout(
    [
      Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head)]),
      ...(made.orientation === undefined ? [] : [chunk('eXIf', cameraExif(made.orientation))]),
      ...(made.profile === undefined ? [] : [chunk('iCCP', made.profile)]),
      ...(made.frames === undefined ? [] : [chunk('acTL', Buffer.alloc(8, 1))]),
      chunk('pHYs', Buffer.alloc(9, 1)),
      chunk('IDAT', rows),
      ...frames.flat(),
      chunk('IEND', ''),
    ],
    made.about ?? [],
    [
      chunk('tEXt', `Comment\0${secret}`),
      chunk('iTXt', `XML:com.adobe.xmp\0\0\0\0\0${secret}`),
      chunk('tIME', Buffer.alloc(7, 1)),
      chunk('zTXt', `a\0\0${secret}`),
      chunk('prVt', secret),
    ],
  )
}

export function gifOf(made: Made = {}): Buffer {
  const { width, height } = size(made)
  const screen = Buffer.alloc(13)
  screen.write('GIF89a')
  screen.writeUInt16LE(width, 6)
  screen.writeUInt16LE(height, 8)
  screen[10] = 0x80
  const blocks = (data: string) => Buffer.concat([Buffer.from([data.length]), Buffer.from(data), Buffer.from([0])])
  const frame = (at: number) =>
    Buffer.concat([
      Buffer.from([0x2c, 0, 0, 0, 0, 10, 0, 10, 0, 0x81]),
      Buffer.alloc(12, at),
      Buffer.from([2]),
      blocks('pixels'),
    ])
  const named = (name: string, data: string) =>
    Buffer.concat([Buffer.from([0x21, 0xff, 11]), Buffer.from(name), blocks(data)])
  const frames = Array.from({ length: made.frames ?? 1 }, (_, at) => [
    Buffer.from([0x21, 0xf9, 4, 4, at, 0, 0, 0]),
    frame(at),
  ])
  return withAbout(
    [
      Buffer.concat([screen, Buffer.alloc(6, 9)]),
      ...(made.profile === undefined ? [] : [named('ICCRGBG1012', made.profile.toString('latin1'))]),
      named('NETSCAPE2.0', '\x01\0\0'),
      ...frames.flat(),
      Buffer.from([0x3b]),
    ],
    made.about ?? [],
    [Buffer.concat([Buffer.from([0x21, 0xfe]), blocks(secret)]), named('XMP DataXMP', secret)],
  )
}

export function webpOf(made: Made = {}): Buffer {
  const chunk = (type: string, data: Buffer | string) => {
    const bytes = Buffer.from(data as string, 'latin1')
    const length = Buffer.alloc(4)
    length.writeUInt32LE(bytes.length)
    return Buffer.concat([Buffer.from(type), length, bytes, Buffer.alloc(bytes.length % 2)])
  }
  const { width, height } = size(made)
  const about = made.about ?? []
  const head = Buffer.alloc(10)
  head[0] =
    (made.profile === undefined ? 0 : 0x20) |
    (made.orientation === undefined ? 0 : 0x08) |
    (made.frames === undefined ? 0 : 0x02) |
    (about.length > 0 ? 0x04 : 0)
  head.writeUIntLE(width - 1, 4, 3)
  head.writeUIntLE(height - 1, 7, 3)
  const pixels = Buffer.alloc(21, 3)
  pixels[0] = 0x2f
  pixels.writeUInt32LE((width - 1) | ((height - 1) << 14), 1)
  const picture = chunk('VP8L', pixels)
  const frameHead = (at: number) => {
    const whole = Buffer.alloc(16)
    head.copy(whole, 6, 4, 10)
    whole.writeUIntLE(at, 12, 3)
    return whole
  }
  const frames = Array.from({ length: made.frames ?? 0 }, (_, at) =>
    chunk('ANMF', Buffer.concat([frameHead(at), picture, ...(about.length > 0 ? [chunk('NOTE', secret)] : [])])),
  )
  const body = withAbout(
    [
      chunk('VP8X', head),
      ...(made.profile === undefined ? [] : [chunk('ICCP', made.profile)]),
      ...(made.frames === undefined ? [picture] : [chunk('ANIM', Buffer.alloc(6, 1)), ...frames]),
      ...(made.orientation === undefined ? [] : [chunk('EXIF', cameraExif(made.orientation))]),
    ],
    about,
    [chunk('XMP ', secret), chunk('NOTE', secret)],
  )
  const start = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  start.writeUInt32LE(4 + body.length, 4)
  return Buffer.concat([start, body])
}
