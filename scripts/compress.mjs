import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const codings = [
  ['.br', (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })],
  ['.gz', (bytes) => gzipSync(bytes, { level: 9 })],
]

/** Adds compressed copies of each file, in each coding that makes it smaller, with the coding's file extension. */
export function compress(folder) {
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    const bytes = readFileSync(path)
    for (const [ending, encode] of codings) {
      const encoded = encode(bytes)
      if (encoded.length < bytes.length) writeFileSync(`${path}${ending}`, encoded)
    }
  }
}

/** Puts all files, in each coding, into one, behind a list of where each is and what its tag is. */
export function pack(folder) {
  const bodies = []
  let at = 0
  const partOf = (path, coding) => {
    const body = readFileSync(path)
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
    const part = { coding, at, size: body.length, etag }
    bodies.push(body)
    at += body.length
    return part
  }
  const smallestFirst = [
    ['br', '.br'],
    ['gzip', '.gz'],
    [null, ''],
  ]
  const listed = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !/\.(br|gz)$/.test(file.name))
    .map((file) => join(file.parentPath, file.name))
    .map((path) => [
      `/${relative(folder, path).split(sep).join('/')}`,
      smallestFirst
        .filter(([, ending]) => existsSync(`${path}${ending}`))
        .map(([coding, ending]) => partOf(`${path}${ending}`, coding)),
    ])
  const list = Buffer.from(JSON.stringify(listed))
  const length = Buffer.from(String(list.length).padStart(8, '0'))
  writeFileSync(join(folder, 'page.pack'), Buffer.concat([length, list, ...bodies]))
}
