import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backUp, CopyError, restore, verifyBackup } from '#server/ports/database/copies/index'
import { openEmbedded } from '#server/ports/database/embedded'

let directory = ''
let whole: Buffer
let lines: string[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-damage-'))
  const data = join(directory, 'data')
  const store = await openEmbedded(data)
  const rows = Array.from({ length: 20 }, (_, at) => ({ _id: `m${at}`, at: new Date(at), text: `Grüße ${at * at} 🎈` }))
  await store.db().collection('messages').insertMany(rows)
  await store.db().collection('people').insertMany(rows.slice(0, 3))
  await store.close()
  const files = join(directory, 'files')
  await writeFileAt(join(files, 'media', 'icon'), 'a', 'a picture')
  await backUp(data, join(directory, 'backup'), files)
  whole = await readFile(join(directory, 'backup'))
  lines = gunzipSync(whole).toString().trimEnd().split('\n')
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function writeFileAt(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), text)
}

/** What is said of an archive, by reading and by restoring it. */
async function saidOf(bytes: Buffer): Promise<string> {
  const file = join(directory, 'broken')
  await writeFile(file, bytes)
  const said = await verifyBackup(file).then(() => 'whole', refusal)
  const target = join(directory, 'target', 'deep')
  const restored = await restore(file, target).then(() => 'whole', refusal)
  expect(restored).toBe(said)
  const isThere = (await readdir(directory)).includes('target')
  expect(isThere).toBe(said === 'whole')
  await rm(join(directory, 'target'), { recursive: true, force: true })
  return said.replace(file, 'It')
}
function refusal(error: unknown): string {
  if (!(error instanceof CopyError)) throw error
  return error.message
}
const packed = (text: readonly string[]) => gzipSync(`${text.join('\n')}\n`)
const exchanged = (one: number, other: number) =>
  packed(lines.map((line, at) => (at === one ? lines[other] : at === other ? lines[one] : line) ?? ''))

describe('N70: a damaged backup is told of in one sentence, and nothing is left of its restore', () => {
  test('as it was written it is whole', async () => {
    expect(await saidOf(whole)).toBe('whole')
  })

  test.each([
    ['empty', () => Buffer.alloc(0), /^It is no backup of Plaza\.$/],
    ['no archive', () => Buffer.from('hello\n'), /^It is no backup of Plaza\.$/],
    ['an archive of something else', () => gzipSync('hello\n'), /^It is no backup of Plaza\.$/],
    [
      'of a later format',
      () => packed(lines.map((line) => line.replace('"format":3', '"format":9'))),
      /^It is damaged at line 1: this version does not know format 9\.$/,
    ],
    ['without its trailer', () => whole.subarray(0, -8), /^It is damaged at line \d+: it cannot be unpacked\.$/],
    ['cut off', () => whole.subarray(0, -60), /^It is damaged at line \d+: it cannot be unpacked\.$/],
    [
      'two of them',
      () => Buffer.concat([whole, whole]),
      /^It is damaged at line \d+: more follows where it has ended\.$/,
    ],
    [
      'with junk behind it',
      () => Buffer.concat([whole, Buffer.from('junk')]),
      /^It is damaged at line \d+: (more follows|it cannot be unpacked)/,
    ],
    [
      'two in one archive',
      () => packed([...lines.slice(0, -1), ...lines]),
      /^It is damaged at line 31: another backup begins\.$/,
    ],
    [
      'two documents exchanged',
      () => exchanged(3, 4),
      /^It is damaged at line 31: the lines before it are not what was/,
    ],
    [
      'a document that comes twice',
      () => packed(lines.flatMap((line, at) => (at === 3 ? [line, line] : line))),
      /^It is damaged at line \d+: the documents before it/,
    ],
    [
      'a document lost',
      () => packed(lines.filter((_, at) => at !== 3)),
      /^It is damaged at line \d+: the documents before it/,
    ],
    [
      'a document changed',
      () => packed(lines.map((line, at) => (at === 3 ? line.replace('Gr', 'gr') : line))),
      /^It is damaged at line \d+: the documents/,
    ],
    [
      'a document that is none',
      () => packed(lines.map((line, at) => (at === 3 ? line.slice(4) : line))),
      /^It is damaged at line 4: it is no document\.$/,
    ],
    [
      'a heading that is none',
      () => packed(lines.map((line, at) => (at === 1 ? '#{"collection":' : line))),
      /^It is damaged at line 2: it is none that/,
    ],
    [
      'a collection that comes twice',
      () => packed(lines.flatMap((line, at) => (at === 1 ? [line, line] : line))),
      /^It is damaged at line 3: the collection messages comes twice\.$/,
    ],
    [
      'a file changed',
      () => packed(lines.map((line, at) => (at === 24 + 1 ? line : line.replace(/^YSBw/, 'YSBx')))),
      /^It is damaged at line \d+: the files before it/,
    ],
    ['without its end', () => packed(lines.slice(0, -1)), /^It is damaged at line \d+: it ends too early\.$/],
  ])('%s', async (_, make, says) => {
    expect(await saidOf(make())).toMatch(says)
  })

  test('each byte with a bit flipped', async () => {
    for (let at = 0; at < whole.length; at += 3) {
      const flipped = Buffer.from(whole)
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (at % 8)), at)
      const said = await saidOf(flipped)
      // When it was packed and by which system changes nothing, nor do the bits between two blocks.
      if (said === 'whole') expect(gunzipSync(flipped), `byte ${at}`).toEqual(gunzipSync(whole))
      else expect(said, `byte ${at}`).toMatch(/^It is (no backup of Plaza|damaged at line \d+: [^\n]+)\.$/)
    }
  })

  test('what is no file is told of as well', async () => {
    await expect(verifyBackup(join(directory, 'none'))).rejects.toThrow(/none is not there\.$/)
    await expect(verifyBackup('')).rejects.toThrow(/^A file without a name is not there\.$/)
    await expect(verifyBackup(directory)).rejects.toThrow(/is no regular file\.$/)
  })
})
