import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesIn } from '#server/platform/files'
import { fileLines } from '#server/ports/database/copies/files'
import { backUp, restore, verifyBackup, verifyFiles } from '#server/ports/database/copies/index'
import { localStorage } from '#server/ports/storage/local'
import { uploads } from '#shared/api/media/uploads'
import { boot } from '#test/support/boot'
import { person } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { build, programs } from '#test/support/programs'

const long = 180_000
const large = Buffer.alloc(300_000, 'plaza ')
let directory: string
let data: string
let backup: string
/** The path below which the server gave the picture. */
let path: string
let told: string

beforeAll(async () => {
  build()
  directory = await mkdtemp(join(tmpdir(), 'plaza-backup-'))
  data = join(directory, 'data')
  backup = join(directory, 'plaza.gz')
  const server = await boot({ nodes: 1, environment: { DATA_DIR: data, MONGODB_URI: '' } })
  const { token, url } = await person(server, 'ada')
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(pngOf())]))
  const answer = await fetch(`${url}/api/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body,
  })
  path = new URL(uploads.picture.output.parse(await answer.json()).url).pathname
  const storage = server.apps[0]?.node.services.storage
  await storage?.put('chat-images/encrypted/0xabc/x/large.enc', new Blob([large]))
  await storage?.put('chat-images/encrypted/0xabc/x/empty.enc', new Blob([]))
  await writeFile(join(filesIn(data), '.unfinished', 'half'), 'half')
  const done = await plaza(['backup', backup])
  await server.close()
  expect(done).toMatchObject({ code: 0, complaint: '' })
  told = done.told
}, long)

afterAll(() => rm(directory, { recursive: true, force: true }))

describe('a backup with files', { timeout: long }, () => {
  test('taken while the server runs holds every whole file, which a restored server gives byte by byte', async () => {
    expect(told).toContain('With them 3 files')
    const elsewhere = join(directory, 'restored')
    expect(await plaza(['restore', backup, '--without-erasures'], { DATA_DIR: elsewhere })).toMatchObject({
      code: 0,
      told: expect.stringContaining('With them 3 files'),
    })
    expect(await readdir(filesIn(elsewhere))).not.toContain('.unfinished')
    const server = await boot({ nodes: 1, environment: { DATA_DIR: elsewhere, MONGODB_URI: '' } })
    const bytesAt = async (at: string) => Buffer.from(await (await fetch(`${server.url}${at}`)).arrayBuffer())
    expect(await bytesAt(path)).toEqual(pngOf())
    expect((await bytesAt('/files/chat-images/encrypted/0xabc/x/large.enc')).equals(large)).toBe(true)
    await server.close()
  })

  test('is verified to its last file: a changed byte, or an end before the files, is damage', async () => {
    const lines = gunzipSync(await readFile(backup))
      .toString()
      .split('\n')
    const spoiled = async (change: (line: string, at: number) => string | null) => {
      const file = join(directory, 'spoiled')
      const kept = lines.map(change).filter((line) => line !== null)
      await writeFile(file, gzipSync(kept.join('\n')))
      return file
    }
    expect(await verifyBackup(await spoiled((line) => line))).toEqual(await verifyBackup(backup))
    const first = lines.findIndex((line) => line.startsWith('#{"file":'))
    const big = lines.findIndex((line) => line.includes('large.enc"}'))
    for (const change of [
      (line: string, at: number) => (at === big + 1 ? line.replace(/^./, (was) => (was === 'A' ? 'B' : 'A')) : line),
      (line: string, at: number) => (at >= first ? null : line),
      (line: string) => (line.startsWith('#{"files":') ? null : line),
      (line: string, at: number) => (at === big ? line.replace('0xabc', '0xabd') : line),
    ])
      await expect(verifyBackup(await spoiled(change))).rejects.toThrow('is damaged')
    const evil = await spoiled((line, at) => (at === first ? '#{"file":"../../evil"}' : line))
    await expect(restore(evil, join(directory, 'evil'))).rejects.toThrow('none of ours: "../../evil"')
    expect(await readdir(directory)).not.toContain('evil.enc')
    expect(await readdir(directory)).not.toContain('evil')
  })

  test('of an older version, which had none, is restored', async () => {
    const lines = gunzipSync(await readFile(backup))
      .toString()
      .split('\n')
    const older = lines.slice(
      0,
      lines.findIndex((line) => line.startsWith('#{"file":')),
    )
    const file = join(directory, 'older')
    await writeFile(file, gzipSync(`${older.join('\n').replace('"format":3', '"format":1')}\n`))
    const { documents } = await verifyBackup(backup)
    expect(await restore(file, join(directory, 'of-older'))).toEqual({ documents, files: null })
  })

  test('leaves out a file that is removed meanwhile', async () => {
    const folder = join(directory, 'removed')
    const storage = await localStorage(folder)
    for (const name of ['a', 'b']) await storage.put(`media/icon/${name}`, new Blob([name]))
    const lines = fileLines(folder)
    const { value: begun } = await lines.next()
    const left = String(begun).includes('/a') ? 'b' : 'a'
    await storage.remove(`media/icon/${left}`)
    let rest = ''
    for await (const line of lines) rest += line
    expect(rest).not.toContain(`/${left}`)
    expect(rest).toContain('"count":1')
  })

  test('O42: says which recordings it leaves out, and takes them where it is told to', async () => {
    const [folder, elsewhere] = [join(data, 'media', 'recordings'), join(directory, 'with-recordings')]
    await mkdir(folder, { recursive: true })
    const row = (phase: string) => JSON.stringify({ streamId: 's', phase, sizeBytes: 2_000_000 })
    const files = {
      'host-a.mp4': 'a'.repeat(2_000_000),
      'host-a.json': row('ready'),
      'host-b.mp4': 'b',
      'host-b.json': row('failed'),
      'host-c.mp4': 'c',
      'host-c.json': row('processing'),
      'host-d.parts': 'd',
      'host-d.json': row('waiting'),
    }
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
    const without = join(directory, 'without-recordings')
    const told = (await plaza(['backup', without])).told
    expect(told).toContain(`2 recordings of livestreams, 2.0 MB in ${folder}, left out: --recordings takes them, too.`)
    const file = join(directory, 'with-recordings.gz')
    expect((await plaza(['backup', file, '--recordings'])).told).toMatch(
      /With them 3 files that people uploaded and 2 recordings of livestreams, checksum \w+\.\n$/,
    )
    expect(await restore(without, join(directory, 'less'))).not.toHaveProperty('recordings')
    expect(await plaza(['restore', file, '--without-erasures'], { DATA_DIR: elsewhere })).toMatchObject({
      code: 0,
      complaint: '',
    })
    const restored = join(elsewhere, 'media', 'recordings')
    expect((await readdir(restored)).sort()).toEqual(['host-a.json', 'host-a.mp4', 'host-b.json', 'host-b.mp4'])
    expect(await readFile(join(restored, 'host-a.mp4'), 'utf8')).toBe(files['host-a.mp4'])
    expect(await readdir(filesIn(elsewhere))).not.toContain('recordings')
    await rm(join(data, 'media'), { recursive: true })
  })

  test('of a bucket by S3 says that it has none', async () => {
    const file = join(directory, 'without')
    const { told } = await plaza(['backup', file], { S3_ENDPOINT: 'http://127.0.0.1:1' })
    expect(told).toContain('Files that people uploaded are not among them: copy the buckets of S3_ENDPOINT')
    expect((await verifyBackup(file)).files).toBeNull()
  })

  test('is restored beside files that a restore which was killed has left', async () => {
    const elsewhere = join(directory, 'again')
    await mkdir(elsewhere)
    await restore(backup, elsewhere)
    await rm(join(elsewhere, 'data.mdb'))
    const copied = await restore(backup, elsewhere)
    expect(copied).toEqual(await verifyBackup(backup))
    expect(await backUp(elsewhere, join(directory, 'twice'), filesIn(elsewhere))).toEqual(copied)
  })

  test('can be taken after its store was compacted, which says how large it is and was', async () => {
    const { code, told: compacted, complaint } = await plaza(['compact'])
    expect([code, complaint]).toEqual([0, ''])
    expect(compacted).toMatch(/^Compacted the store in .+: \d+\.\d MB, was \d+\.\d MB\.\n$/)
    expect((await plaza(['backup', join(directory, 'compacted')])).told).toContain('With them 3 files')
  })
})

describe('verify reads the files', { timeout: long }, () => {
  let verified: string
  const folder = () => filesIn(verified)
  const verify = () => verifyFiles(verified, folder())
  /** The picture, and something that was sealed. */
  const keys = { picture: '', sealed: '' }
  beforeAll(async () => {
    verified = join(directory, 'verified')
    const server = await boot({ nodes: 1, environment: { DATA_DIR: verified, MONGODB_URI: '' } })
    const { token, url } = await person(server, 'ada')
    const post = async (at: string, fields: Record<string, string | Blob>) => {
      const body = new FormData()
      for (const [name, value] of Object.entries(fields)) body.set(name, value)
      const headers = { authorization: `Bearer ${token}` }
      const answer = (await (await fetch(`${url}${at}`, { method: 'POST', headers, body })).json()) as { url: string }
      return new URL(answer.url).pathname.replace('/files/', '')
    }
    keys.picture = await post('/api/upload', { file: new Blob([new Uint8Array(pngOf())]) })
    keys.sealed = await post('/api/upload/image', { file: new Blob([large]), conversationId: 'a' })
    await server.apps[0]?.node.services.storage?.put('media/icon/0xabc/nobody.png', new Blob(['x']))
    await writeFile(join(folder(), '.unfinished', 'half'), 'half')
    const whole = 'files: 2 that documents name, 1 that none names, 1 unfinished'
    expect(await verify()).toBe(whole)
    expect(await plaza(['verify'], { DATA_DIR: verified })).toMatchObject({
      code: 0,
      told: expect.stringMatching(`${whole}\nThe store in .+ is whole.`),
    })
    await server.close()
    expect(await plaza(['verify'], { DATA_DIR: verified })).toMatchObject({
      code: 0,
      told: expect.stringContaining(whole),
    })
  }, long)

  test('and says which is missing, shorter, or another', async () => {
    for (const [name, says, change] of [
      ['picture', 'is missing', (path: string) => rm(path)],
      ['picture', 'has 5 bytes instead of', (path: string) => writeFile(path, 'short')],
      ['sealed', 'is not what was uploaded', (path: string) => writeFile(path, Buffer.alloc(large.length, 'plazz '))],
    ] as const) {
      const path = join(folder(), keys[name])
      const before = await readFile(path)
      await change(path)
      await expect(verify()).rejects.toThrow(`Files are damaged: ${keys[name]} ${says}`)
      expect(await plaza(['verify'], { DATA_DIR: verified })).toMatchObject({
        code: 1,
        told: expect.not.stringContaining('is whole'),
        complaint: expect.stringContaining(says),
      })
      await writeFile(path, before)
    }
    expect(await verify()).toContain('2 that documents name')
  })

  test('except those of S3, and says so', async () => {
    const { code, told } = await plaza(['verify'], { DATA_DIR: verified, S3_ENDPOINT: 'http://127.0.0.1:1' })
    expect([code, told]).toEqual([0, expect.stringContaining('files: in the buckets of S3_ENDPOINT, not read')])
  })
})

async function plaza(options: readonly string[], environment: Record<string, string> = {}) {
  const { MONGODB_URI: _, ...inherited } = process.env
  const env = { ...inherited, DATA_DIR: data, ...environment }
  const child = spawn(process.execPath, [programs.cli, ...options], { env })
  const [told, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, told, complaint }
}
