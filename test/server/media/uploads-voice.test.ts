// Modes: embedded
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createClient, mediaIn, memoryStorage, uploadPicture } from '#client/sdk/index'
import { UploadQuotas, UploadRecords } from '#server/domains/media/files/model'
import { sweepFiles } from '#server/domains/media/uploads/store'
import { localStorage } from '#server/ports/storage/local'
import { keyAt } from '#server/ports/storage/port'
import { uploads } from '#shared/api/media/uploads'
import { messages } from '#shared/api/rooms/messages'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, moderates, outcomeOf, over, type Person, person, say } from '#test/support/people'
import { gifOf, pngOf, secret } from '#test/support/pictures'
import { sounds } from '#test/support/sounds'

const day = 86_400
const megabyte = 1024 * 1024
let folder: string
let server: Booted
let who: Person
let other: Person
let owner: Person
let room: RoomRef & { id: string }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-voice-'))
  server = await boot({ services: { storage: await localStorage(folder) } })
  who = await person(server, 'speaker')
  other = await person(server, 'listener')
  owner = await person(server, 'owner')
})
beforeEach(async () => {
  room = await channelOf(owner, who, other)
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const send = async (file: Buffer, { token, url }: Pick<Person, 'token' | 'url'> = who, type = 'audio/webm') => {
  const body = new FormData()
  body.set('context', 'channel')
  body.set('file', new Blob([new Uint8Array(file)], { type }), 'voice.html')
  const answer = await fetch(`${url}/api/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body,
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const uploaded = async (file: Buffer, by = who) => uploads.picture.output.parse((await send(file, by)).body)
const get = (url: string, init: RequestInit = {}, at = server.url) => fetch(`${at}${new URL(url).pathname}`, init)
const notTaken =
  '415 file: not a JPEG, PNG, GIF or WebP image, nor a voice message (WebM, Ogg or MP4, as browsers record it)'

describe('a voice message for everybody', () => {
  test.each([
    ['WebM', sounds.webm, 'weba', 'audio/webm'],
    ['WebM as a browser writes it', sounds.liveWebm, 'weba', 'audio/webm'],
    ['Ogg', sounds.ogg, 'ogg', 'audio/ogg'],
    ['MP4', sounds.mp4, 'm4a', 'audio/mp4'],
    ['MP4 as a browser writes it', sounds.liveMp4, 'm4a', 'audio/mp4'],
    ['MP4 of Opus', sounds.opusMp4, 'm4a', 'audio/mp4'],
  ] as const)(
    '%s is known by its bytes, and served as what it is, whole and in parts',
    async (_name, make, end, type) => {
      const given = await make({ isTold: true })
      const { status, body } = await send(given, who, 'text/html')
      expect(status, JSON.stringify(body)).toBe(200)
      const { url, path } = uploads.picture.output.parse(body)
      expect(path).toMatch(new RegExp(`^channel/${who.account.toLowerCase()}/\\d{13}_[0-9a-z]{25}\\.${end}$`))
      const safe = {
        'content-type': type,
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'accept-ranges': 'bytes',
      }
      for (const at of server.urls) {
        const whole = await get(url, {}, at)
        expect(Object.fromEntries(whole.headers)).toMatchObject(safe)
        const bytes = Buffer.from(await whole.arrayBuffer())
        expect([bytes.length, bytes.includes(secret)]).toEqual([given.length, false])
        const part = await get(url, { headers: { range: 'bytes=100-199' } }, at)
        expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100-199/${given.length}`])
        expect(Object.fromEntries(part.headers)).toMatchObject(safe)
        expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(100, 200))
      }
    },
  )

  test('T23: is none where it is a film, HTML, sealed, or cut off', async () => {
    const voice = await sounds.liveWebm()
    const html = Buffer.from('<!doctype html><script>alert(1)</script>')
    for (const file of [
      await sounds.webm({ isFilm: true }),
      await sounds.liveMp4({ isFilm: true }),
      Buffer.concat([voice.subarray(0, 4), html]),
      Buffer.concat([voice.subarray(0, 60), html]),
      Buffer.concat([voice, html]),
      Buffer.concat([html, voice]),
      voice.subarray(0, -1),
      randomBytes(1_000),
    ]) {
      const { status, body } = await send(file)
      expect(`${status} ${body.error}`).toBe(notTaken)
    }
    expect((await send(voice, { token: 'x', url: server.url })).status).toBe(401)
  })

  test('T23: is no picture of a person', async () => {
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(await sounds.liveWebm())]), 'x')
    const headers = { authorization: `Bearer ${who.token}` }
    const answer = await fetch(`${who.url}/api/user/avatar`, { method: 'POST', headers, body })
    expect([answer.status, (await answer.json()).error]).toEqual([415, 'file: not a JPEG, PNG, GIF or WebP image'])
  })

  test('T23: has at most 5 MB, and counts towards the quota of its speaker', heavy, async () => {
    const voice = await sounds.liveWebm()
    // An element of nothing, of which the last byte stands beyond what is taken.
    const nothing = (bytes: number) => {
      const made = Buffer.alloc(bytes)
      made.set([0xec, 0x01])
      made.writeUIntBE(bytes - 9, 3, 6)
      return made
    }
    const largest = 5 * megabyte - voice.length
    expect((await send(Buffer.concat([voice, nothing(largest + 1)]))).body.code).toBe('PAYLOAD_TOO_LARGE')
    const today = async () => {
      const rows = await UploadQuotas.find({}).lean<{ _id: string; bytes: number }[]>()
      return rows.find(({ _id }) => _id.startsWith(who.account))?.bytes ?? 0
    }
    const before = await today()
    expect((await send(Buffer.concat([voice, nothing(largest)]))).status).toBe(200)
    expect((await today()) - before).toBe(5 * megabyte)
  })

  test('is uploaded by the SDK, which says by which text a message names it', async () => {
    const client = createClient({ url: who.url, token: who.token, transport: 'rest', storage: memoryStorage() })
    const voice = new Blob([new Uint8Array(await sounds.liveWebm())], { type: 'audio/webm' })
    const { marker, url } = await uploadPicture(client, { voice, seconds: 3.6, context: 'channel' })
    expect(marker).toBe(`[VOICE:4]${url}`)
    const { message } = await who.does('rest', messages.send, { room, text: marker, type: 'voice' })
    expect(mediaIn(message.content)).toEqual({ kind: 'voice', seconds: 4, url })
    client.close()
  })
})

describe.each(over)('over %s', (door) => {
  test('T25: is named as voice, by messages of its speaker alone', async () => {
    const { url } = await uploaded(await sounds.liveWebm())
    const picture = (await uploaded(pngOf())).url
    const gif = (await uploaded(gifOf())).url
    for (const draft of [
      { text: `[VOICE:1]${url}`, type: 'voice' as const },
      { text: `[VOICE:3601]${url}` },
      { text: 'Listen', attachments: [{ url, name: 'voice.weba', mime: 'audio/webm' }] },
    ]) {
      expect(outcomeOf(await who.tries(door, messages.send, { room, ...draft }))).toBe('200')
      expect(outcomeOf(await other.tries(door, messages.send, { room, ...draft }))).toBe('400 INVALID_PARAMETER')
    }
    const { id } = await say(who, room, 'words')
    for (const text of [
      ...['IMAGE', 'GIF', 'PIXEL_ART', 'ENC_IMAGE:image/png'].map((tag) => `[${tag}]${url}`),
      `[VOICE]${url}`,
      `[VOICE:1]${picture}`,
      `[VOICE:1]${gif}`,
    ]) {
      const outcomes = [
        outcomeOf(await who.tries(door, messages.send, { room, text, type: 'voice' })),
        outcomeOf(await who.tries(door, messages.edit, { room, id, text })),
      ]
      expect([text, ...outcomes]).toEqual([text, '400 INVALID_PARAMETER', '400 INVALID_PARAMETER'])
    }
    const attachments = [{ url, mime: 'image/png' }]
    expect(outcomeOf(await who.tries(door, messages.send, { room, text: 'Look', attachments }))).toBe(
      '400 INVALID_PARAMETER',
    )
  })

  test('stands where the rules of the room allow voice messages, whatever it is called', async () => {
    const { url } = await uploaded(await sounds.liveWebm())
    await moderates(owner, { room, action: 'rules', patch: { rules: { voice_allowed: 'disabled' } } })
    for (const draft of [
      { text: `[VOICE:1]${url}`, type: 'voice' as const },
      { text: `[VOICE:1]${url}` },
      { text: 'Listen', attachments: [{ url }] },
      { text: 'Listen', attachments: [{ url, mime: 'application/octet-stream' }] },
    ])
      expect(await who.refused(door, messages.send, { room, ...draft })).toMatchObject({
        code: 'CONTENT_NOT_ALLOWED',
        message: 'Voice messages are not allowed',
      })
  })

  test('a deleted message takes its voice with it', async () => {
    const { url } = await uploaded(await sounds.liveWebm())
    const { id } = await say(who, room, `[VOICE:1]${url}`, { type: 'voice' })
    expect((await get(url)).status).toBe(200)
    await who.does(door, messages.remove, { room, id })
    expect((await get(url)).status).toBe(404)
    expect(await UploadRecords.exists({ _id: keyAt('http://localhost:3000/files', url) ?? '' })).toBeNull()
  })
})

test('what is recorded and never sent is taken by the sweep, what a message names is not', async () => {
  const [sent, kept] = [await uploaded(await sounds.liveWebm()), await uploaded(await sounds.ogg())]
  await say(who, room, `[VOICE:1]${sent.url}`, { type: 'voice' })
  server.setAhead(day + 60)
  const [app] = server.apps
  if (!app) throw new Error('No node')
  await sweepFiles(app.node, new AbortController().signal)
  expect([(await get(sent.url)).status, (await get(kept.url)).status]).toEqual([200, 404])
})
