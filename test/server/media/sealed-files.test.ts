// Modes: embedded
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, moderates, over, type Person, people, say } from '#test/support/people'
import { pngOf } from '#test/support/pictures'

let server: Booted
let owner: Person
let member: Person
let room: RoomRef & { id: string }
/** Addresses of files of the member's own. */
const files = { sealed: '', voice: '', photo: '', art: '' }
beforeAll(async () => {
  server = await boot({})
  ;[owner, member] = await people(server, 'owner', 'member')
  room = await channelOf(owner, member)
  const post = async (path: string, body: FormData | string) => {
    const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
    const headers = { authorization: `Bearer ${member.token}`, ...type }
    const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body })
    return (await answer.json()) as Record<string, string>
  }
  const form = (bytes: Buffer, conversationId?: string) => {
    const body = new FormData()
    if (conversationId) body.set('conversationId', conversationId)
    body.set('file', new Blob([new Uint8Array(bytes)]), 'x')
    return body
  }
  // Not encrypted: the server cannot tell, as it does not begin as a picture.
  files.sealed = (await post('/api/upload/image', form(Buffer.concat([randomBytes(12), pngOf()]), room.id))).url ?? ''
  files.voice = (await post('/api/upload/voice', form(Buffer.concat([randomBytes(12), pngOf()]), 'voice'))).url ?? ''
  files.photo = (await post('/api/upload', form(pngOf()))).url ?? ''
  const imageData = `data:image/png;base64,${pngOf({ width: 8 }).toString('base64')}`
  files.art = (await post('/api/pixel-art/upload', JSON.stringify({ imageData }))).ipfsUrl ?? ''
})
afterAll(() => server.close())

type File = keyof typeof files
const ways: [string, File, (url: string) => object][] = [
  ['a sealed file as a GIF', 'sealed', (url) => ({ text: `[GIF]${url}` })],
  ['a sealed file as a photo', 'sealed', (url) => ({ text: `[IMAGE]${url}` })],
  ['a sealed file as pixel art', 'sealed', (url) => ({ text: `[PIXEL_ART]${url}` })],
  ['a sealed file as a photo by its type', 'sealed', (url) => ({ text: url, type: 'photo' })],
  ['a sealed file as a GIF by its type', 'sealed', (url) => ({ text: url, type: 'gif' })],
  ['a sealed file as pixel art by its type', 'sealed', (url) => ({ text: url, type: 'pixel_art' })],
  ['a sealed file as voice', 'sealed', (url) => ({ text: `[VOICE:1]${url}` })],
  ['a sealed file attached as a GIF', 'sealed', (url) => ({ text: 'x', attachments: [{ url, mime: 'image/gif' }] })],
  ['a sealed file attached as a file', 'sealed', (url) => ({ text: 'x', attachments: [{ url, mime: 'a/b' }] })],
  ['a sealed file attached', 'sealed', (url) => ({ text: 'x', attachments: [{ url }] })],
  ['voice as a photo', 'voice', (url) => ({ text: `[IMAGE]${url}` })],
  ['voice as a sealed picture', 'voice', (url) => ({ text: `[ENC_IMAGE:image/png]${url}` })],
  ['voice attached', 'voice', (url) => ({ text: 'x', attachments: [{ url, mime: 'audio/webm' }] })],
  ['a photo as a GIF', 'photo', (url) => ({ text: `[GIF]${url}` })],
  ['a photo as pixel art', 'photo', (url) => ({ text: `[PIXEL_ART]${url}` })],
  ['a photo as a sealed picture', 'photo', (url) => ({ text: `[ENC_IMAGE:image/png]${url}` })],
  ['a photo as a sealed picture by its type', 'photo', (url) => ({ text: url, type: 'encrypted_image' })],
  ['a photo attached as a GIF', 'photo', (url) => ({ text: 'x', attachments: [{ url, mime: 'image/gif' }] })],
  ['pixel art as a GIF', 'art', (url) => ({ text: `[GIF]${url}` })],
  ['pixel art as voice', 'art', (url) => ({ text: url, type: 'voice_memo' })],
]

describe.each(over)('over %s', (door) => {
  test.each(ways)('S4: %s is no message, nor an edit', async (_title, file, draftOf) => {
    const draft = draftOf(files[file]) as { text: string; attachments?: []; type?: 'photo' }
    const refusal = { code: 'INVALID_PARAMETER', status: 400, verdict: { step: 'content_type' } }
    expect(await member.refused(door, messages.send, { room, ...draft })).toMatchObject(refusal)
    expect((await member.does(door, messages.check, { room, ...draft })).verdict).toMatchObject({ ok: false })
    const { id } = await say(member, room, 'words')
    if (draft.attachments === undefined && draft.type === undefined)
      expect(await member.refused(door, messages.edit, { room, id, text: draft.text })).toMatchObject(refusal)
  })

  test('S4: each file is named as what it is', async () => {
    const { sealed, voice, photo, art } = files
    for (const draft of [
      { text: `[ENC_IMAGE:image/png]${sealed}` },
      { text: sealed, type: 'encrypted_image' as const },
      { text: `[VOICE:1]${voice}` },
      { text: voice, type: 'voice_memo' as const },
      { text: `[IMAGE]${photo}` },
      { text: photo, type: 'photo' as const },
      { text: 'x', attachments: [{ url: photo, mime: 'image/png' }, { url: art }] },
      { text: `[PIXEL_ART]${art}` },
    ])
      expect(await member.tries(door, messages.send, { room, ...draft })).toMatchObject({ ok: true })
  })

  test('S4: a GIF that is sealed is one where GIFs are not allowed', async () => {
    const quiet = await channelOf(owner, member)
    await moderates(owner, { room: quiet, action: 'rules', patch: { rules: { gifs_allowed: 'disabled' } } })
    const text = `[ENC_IMAGE:image/gif]${files.sealed}`
    expect(await member.refused(door, messages.send, { room: quiet, text })).toMatchObject({
      code: 'CONTENT_NOT_ALLOWED',
    })
  })
})
