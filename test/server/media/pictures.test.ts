// Modes: embedded
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createClient, mediaIn, memoryStorage, uploadPicture } from '#client/sdk/index'
import { cidOf } from '#server/domains/media/uploads/index'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'
import { uploads } from '#shared/api/media/uploads'
import { messages } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, outcomeOf, over, type Person, person } from '#test/support/people'
import { gifOf, jpegOf, pngOf, secret, webpOf } from '#test/support/pictures'
import { wallet } from '#test/support/wallet'

let folder: string
let files: Storage
let server: Booted
let who: Person
let admin: Person
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-pictures-'))
  files = await localStorage(folder)
  server = await boot({ environment: { ADMINS: wallet('admin').address }, services: { storage: files } })
  who = await person(server, 'painter')
  admin = await person(server, 'admin')
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const notTaken =
  '415 file: not a JPEG, PNG, GIF or WebP image, nor a voice message (WebM, Ogg or MP4, as browsers record it)'

type Fields = Record<string, string | Buffer>
const send = async (fields: Fields, { token, url }: Pick<Person, 'token' | 'url'> = who) => {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') body.set(name, value)
    else body.set(name, new Blob([new Uint8Array(value)], { type: 'text/html' }), 'x.html')
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/api/upload`, { method: 'POST', headers, body })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const get = (url: unknown) => fetch(`${server.url}${new URL(String(url)).pathname}`)

describe('a picture', () => {
  test.each([
    ['JPEG', jpegOf, 'jpg', 'image/jpeg'],
    ['PNG', pngOf, 'png', 'image/png'],
    ['GIF', gifOf, 'gif', 'image/gif'],
    ['WebP', webpOf, 'webp', 'image/webp'],
  ] as const)(
    '%s is known by its bytes, and stored without what is written about it',
    async (_name, make, end, type) => {
      const { status, body } = await send({ file: make({ about: [0, 1, 2, 3] }), context: 'channel' })
      expect(status, JSON.stringify(body)).toBe(200)
      const { url, path } = uploads.picture.output.parse(body)
      expect(path).toMatch(new RegExp(`^channel/${who.account.toLowerCase()}/\\d{13}_[0-9a-z]{25}\\.${end}$`))
      expect(url).toBe(`http://localhost:3000/files/media/${path}`)
      const answer = await get(url)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': type,
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      expect([bytes.includes(secret), bytes]).toEqual([false, make()])
    },
  )

  test('lies in `chat` where no context is told', async () => {
    expect((await send({ file: pngOf(), userAddress: who.account })).body.path).toMatch(/^chat\//)
  })

  test.each<[string, Fields, string]>([
    ['of HTML', { file: Buffer.from('<script>alert(1)</script>') }, notTaken],
    ['of half a picture', { file: jpegOf().subarray(0, 90) }, notTaken],
    ['in another context', { file: pngOf(), context: '../x' }, '400 context: a type of room, or chat'],
    [
      'of another account',
      { file: pngOf(), userAddress: wallet('somebody').address },
      '403 The address is not the one of your session',
    ],
  ])('T23: is refused %s', async (_what, fields, expected) => {
    const { status, body } = await send(fields)
    expect(`${status} ${body.error}`).toBe(expected)
  })

  test('of nobody, of a suspended person, or while the storage is away, is refused', async () => {
    expect((await send({ file: pngOf() }, { token: 'x', url: server.url })).status).toBe(401)
    const banned = await person(server, 'banned painter')
    for (const code of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
      const put = vi.spyOn(files, 'put').mockRejectedValueOnce(new AppError(code))
      expect((await send({ file: pngOf() }, banned)).body.code).toBe(code)
      put.mockRestore()
    }
    const updates = { is_banned: true, ban_reason: 'Spam' }
    await admin.rest('PATCH /api/admin/users', { userAddress: banned.account, updates })
    await expect.poll(async () => (await send({ file: pngOf() }, banned)).body.code).toBe('SUSPENDED')
  })

  test('is stored once for a key', async () => {
    const asked = { file: pngOf(), idempotency_key: 'one' }
    expect(await send(asked)).toEqual(await send(asked))
  })
})

test('pixel art is kept here under its hash where nothing pins it, and the same art of one person once', async () => {
  const one = await person(server, 'pixel painter')
  const drawn = pngOf({ about: [1], width: 16, height: 16 })
  const asked = { imageData: `data:image/png;base64,${drawn.toString('base64')}`, senderAddress: one.account }
  const { status, body } = await one.rest('POST /api/pixel-art/upload', asked)
  expect(status, JSON.stringify(body)).toBe(200)
  const { ipfsHash, ipfsUrl, path, alternativeUrls } = uploads.pixelArt.output.parse(body)
  expect([ipfsHash, alternativeUrls]).toEqual([cidOf(pngOf({ width: 16, height: 16 })), []])
  expect(path).toBe(`pixel-art/${one.account.toLowerCase()}/${ipfsHash}.png`)
  const shown = await get(ipfsUrl)
  expect(shown.headers.get('content-type')).toBe('image/png')
  expect(Buffer.from(await shown.arrayBuffer())).toEqual(pngOf({ width: 16, height: 16 }))
  expect((await one.rest('POST /api/pixel-art/upload', asked)).body).toEqual(body)
  const room = await channelOf(one)
  await one.does('rest', messages.send, { room, text: `[PIXEL_ART]${ipfsUrl}` })
  await one.rest('POST /api/chat-rules', {
    chatType: 'channel',
    chatId: room.id,
    rules: { pixel_art_allowed: 'disabled' },
  })
  for (const tag of ['[PIXEL_ART]', '[IMAGE]'])
    expect(await one.refused('rest', messages.send, { room, text: `${tag}${ipfsUrl}` })).toMatchObject({
      message: 'Pixel art is not allowed',
    })
})

describe('T25: a picture that is stored here', () => {
  test('is named by messages of its sender alone, over both doors', async () => {
    const other = await person(server, 'copyist')
    const room = await channelOf(who, other)
    const { body } = await send({ file: jpegOf() })
    for (const door of over)
      for (const asked of [
        { room, text: `[IMAGE]${body.url}` },
        { room, text: String(body.url), type: 'photo' } as const,
        { room, text: 'see', attachments: [{ url: String(body.url), name: 'a.jpg', mime: 'image/jpeg' }] },
      ]) {
        expect([asked, outcomeOf(await who.tries(door, messages.send, asked))]).toEqual([asked, '200'])
        expect([asked, outcomeOf(await other.tries(door, messages.send, asked))]).toEqual([
          asked,
          '400 INVALID_PARAMETER',
        ])
      }
  })

  test.each([
    '(PHOTO)https://evil.test/x.png(/PHOTO)',
    '{PHOTO}https://evil.test/x.png{/PHOTO}',
    '［PHOTO］ｈｔｔｐｓ：／／evil.test/x.png［/PHOTO］',
  ])('O10: stands behind no address of another, however it is wrapped: %s', async (text) => {
    const room = await channelOf(who)
    const { body } = await send({ file: jpegOf() })
    const attachments = [{ url: String(body.url), name: 'a.jpg', mime: 'image/jpeg' }]
    for (const door of over) {
      for (const type of ['photo', 'gif', 'pixel_art', 'voice', 'voice_memo', 'encrypted_image'] as const)
        expect([type, outcomeOf(await who.tries(door, messages.send, { room, text, type }))]).toEqual([
          type,
          '400 INVALID_PARAMETER',
        ])
      expect(outcomeOf(await who.tries(door, messages.send, { room, text, type: 'photo', attachments }))).toBe(
        '400 INVALID_PARAMETER',
      )
    }
  })

  test.each([
    [{ gifs_allowed: 'disabled' }, gifOf, '[IMAGE]', 'GIFs are not allowed'],
    [{ photos_allowed: 'disabled' }, pngOf, '[GIF]', 'Photos are not allowed'],
    [{ photos_allowed: 'disabled' }, pngOf, '[PIXEL_ART]', 'Photos are not allowed'],
  ] as const)('is judged by what it is where %j, whatever it is called', async (rules, make, tag, says) => {
    const room = await channelOf(admin, who)
    await admin.rest('POST /api/chat-rules', { chatType: 'channel', chatId: room.id, rules })
    const { body } = await send({ file: make() })
    for (const door of over)
      expect(await who.refused(door, messages.send, { room, text: `${tag}${body.url}` })).toMatchObject({
        code: 'CONTENT_NOT_ALLOWED',
        message: says,
      })
  })

  test('is uploaded by the SDK, which says by which text a message names it', async () => {
    const client = createClient({ url: who.url, token: who.token, transport: 'rest', storage: memoryStorage() })
    const room = await channelOf(who)
    for (const [bytes, kind] of [
      [pngOf(), 'picture'],
      [gifOf(), 'gif'],
    ] as const) {
      const { marker, url } = await uploadPicture(client, {
        picture: new Blob([new Uint8Array(bytes)]),
        context: 'group',
      })
      const { message } = await who.does('rest', messages.send, { room, text: marker })
      expect(mediaIn(message.content)).toEqual({ kind, url })
    }
    client.close()
  })
})
