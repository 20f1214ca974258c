import { inflateRawSync } from 'node:zlib'

const endSignature = 0x06054b50
const endBytes = 22

/** The files of a ZIP archive, by their names. */
export function unzip(archive: Buffer): Map<string, Buffer> {
  let end = archive.length - endBytes
  while (end >= 0 && archive.readUInt32LE(end) !== endSignature) end -= 1
  if (end < 0) throw new Error('Not a ZIP archive')
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameBytes, extra, comment] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ]
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes)
    const local = archive.readUInt32LE(at + 42)
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const bytes = archive.subarray(start, start + archive.readUInt32LE(at + 20))
    files.set(name, archive.readUInt16LE(at + 10) === 0 ? bytes : inflateRawSync(bytes))
    at += 46 + nameBytes + extra + comment
  }
  return files
}
