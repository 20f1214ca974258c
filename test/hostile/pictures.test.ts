// Modes: embedded
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { localStorage } from '#server/ports/storage/local'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { ofManyPieces, pngOfSize, shownLarge } from '#test/support/picture-bombs'
import { reclaimMemory } from '#test/support/reclaim-memory'
import { watchProcess } from './changed-server.ts'

const megabyte = 1024 * 1024
/** Ten times what is promised. */
const [stallMilliseconds, growthBytes] = [2_000, 200 * megabyte]

let folder: string
let server: Booted
let who: Person
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-bombs-'))
  server = await boot({ services: { storage: await localStorage(folder) } })
  who = await person(server, 'attacker')
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

async function send(bytes: Buffer, path = '/api/upload'): Promise<string> {
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(bytes)]), 'x')
  const headers = { authorization: `Bearer ${who.token}` }
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body })
  return `${answer.status} ${((await answer.json()) as { error?: string }).error}`
}

const tooManyPieces = '413 A picture may be made of at most 16384 pieces'

test('S1: pictures of millions of pieces are refused; neither the loop is held nor memory kept', heavy, async () => {
  await send(pngOfSize(1, 1))
  const watched = watchProcess()
  const before = process.memoryUsage().rss
  for (const make of Object.values(ofManyPieces)) expect(await send(make())).toBe(tooManyPieces)
  const large = ofManyPieces['a JPEG of empty tables'](10 * megabyte - 100)
  const atOnce = await Promise.all([1, 2, 3, 4].map(() => send(large, '/api/bug-reports/upload')))
  expect(atOnce).toEqual(Array(4).fill(tooManyPieces))
  const stopReclaiming = reclaimMemory()
  await expect.poll(() => process.memoryUsage().rss - before, { timeout: 10_000 }).toBeLessThan(growthBytes)
  stopReclaiming()
  watched.stop()
  expect(watched.stall()).toBeLessThan(stallMilliseconds)
})

test('S1: pixel art of many pieces is refused as well', async () => {
  const imageData = `data:image/png;base64,${ofManyPieces['a PNG of empty chunks'](megabyte).toString('base64')}`
  const { status, body } = await who.rest('POST /api/pixel-art/upload', { imageData })
  expect(`${status} ${body.error}`).toBe(tooManyPieces)
})

test.each(Object.entries(shownLarge))('S5: %s is refused', async (_what, bytes) => {
  expect(await send(bytes)).toMatch(/^41[35] /)
})

test('S5: a picture of too many pixels is told so', async () => {
  expect(await send(pngOfSize(12_000, 6_000))).toBe('413 A picture may have at most 64 megapixels, and 16384 on a side')
})

test.each([
  ['HTML', '<script>alert(1)</script>'],
  ['a film of Matroska', '\x1a\x45\xdf\xa3matroska'],
])('S5: where films are taken, the refusal of %s says so', async (_what, bytes) => {
  expect(await send(Buffer.from(bytes, 'latin1'), '/api/bug-reports/upload')).toBe(
    '415 file: not a JPEG, PNG, GIF or WebP image, nor an MP4, WebM or QuickTime film',
  )
})
