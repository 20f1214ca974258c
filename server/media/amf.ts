/** What RTMP writes its commands in (AMF0), as far as publishers use it. */
export type Amf = number | boolean | string | null | undefined | readonly Amf[] | { readonly [name: string]: Amf }

const most = { depth: 8, values: 1000 }
const markers = {
  number: 0,
  boolean: 1,
  string: 2,
  object: 3,
  null: 5,
  undefined: 6,
  map: 8,
  end: 9,
  list: 10,
  date: 11,
  long: 12,
}

/** All values there are. Throws a RangeError where they are malformed, nested too deeply or too many. */
export function decodeAmf(bytes: Buffer): Amf[] {
  let at = 0
  let count = 0
  const move = (by: number): number => {
    at += by
    if (at > bytes.length) throw new RangeError('A value ends early')
    return at - by
  }
  const text = (length: number) => {
    const from = move(length)
    return bytes.toString('utf8', from, from + length)
  }
  const short = () => text(bytes.readUInt16BE(move(2)))

  function object(depth: number): Amf {
    const found: [string, Amf][] = []
    for (;;) {
      const name = short()
      if (name === '' && bytes[at] === markers.end) break
      found.push([name, value(depth + 1)])
    }
    move(1)
    return Object.fromEntries(found)
  }

  function value(depth: number): Amf {
    if (depth > most.depth || ++count > most.values) throw new RangeError('There are too many values')
    const marker = bytes.readUInt8(move(1))
    switch (marker) {
      case markers.number:
        return bytes.readDoubleBE(move(8))
      case markers.boolean:
        return bytes.readUInt8(move(1)) !== 0
      case markers.string:
        return short()
      case markers.long:
        return text(bytes.readUInt32BE(move(4)))
      case markers.object:
        return object(depth)
      case markers.map:
        move(4)
        return object(depth)
      case markers.list: {
        const length = bytes.readUInt32BE(move(4))
        if (length > most.values) throw new RangeError('There are too many values')
        return Array.from({ length }, () => value(depth + 1))
      }
      case markers.date: {
        const milliseconds = bytes.readDoubleBE(move(8))
        move(2)
        return milliseconds
      }
      case markers.null:
        return null
      case markers.undefined:
        return undefined
      default:
        throw new RangeError('A value is of no known kind')
    }
  }

  const values: Amf[] = []
  while (at < bytes.length) values.push(value(0))
  return values
}

export const encodeAmf = (...values: readonly Amf[]): Buffer => Buffer.concat(values.map(encode))

function encode(value: Amf): Buffer {
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (typeof value === 'boolean') return Buffer.from([markers.boolean, value ? 1 : 0])
  if (typeof value === 'string') return Buffer.concat([Buffer.from([markers.string]), name(value)])
  if (value === null || value === undefined) return Buffer.from([markers.null])
  const fields = Object.entries(value).flatMap(([key, inner]) => [name(key), encode(inner)])
  return Buffer.concat([Buffer.from([markers.object]), ...fields, Buffer.from([0, 0, markers.end])])
}

function name(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}
