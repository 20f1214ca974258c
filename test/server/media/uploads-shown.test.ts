// Modes: embedded
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { cidOf } from '#server/domains/media/uploads/index'
import { fakePinning } from '#server/ports/pinning/fake'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, moderates, type Person, person } from '#test/support/people'
import { jpegOf, pngOf, secret, webpOf } from '#test/support/pictures'
import { wallet } from '#test/support/wallet'

const pinnedHash = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
const pinning = fakePinning(pinnedHash)
let folder: string
let files: Storage
let server: Booted
let who: Person
let admin: Person
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-shown-'))
  files = await localStorage(folder)
  const environment = { BETA: 'open', ADMINS: wallet('admin').address, STORAGE_URL: 'https://10.0.0.7/files' }
  server = await boot({ environment, services: { storage: files, pinning } })
  who = await person(server, 'shown')
  admin = await person(server, 'admin')
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const post = async (path: string, body: FormData | object, { token, url }: Pick<Person, 'token' | 'url'> = who) => {
  const isForm = body instanceof FormData
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const formOf = (file: Buffer, fields: Record<string, string> = {}) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([new Uint8Array(file)]), 'x')
  return form
}
const get = async (url: unknown) => {
  const answer = await fetch(`${server.url}${new URL(String(url)).pathname}`)
  return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) }
}
const artOf = (bytes: Buffer) => ({ imageData: `data:image/png;base64,${bytes.toString('base64')}` })

const newAgent = async (owner: Person) =>
  (
    (await owner.rest('POST /api/agents', { name: `Bot ${Math.random()}`, personality: 'kind' })).body.agent as {
      id: string
    }
  ).id

describe.each([
  ['a picture', 'POST /api/upload', async () => ['/api/upload', formOf(pngOf())]],
  ['pixel art', 'POST /api/pixel-art/upload', async () => ['/api/pixel-art/upload', artOf(pngOf({ width: 8 }))]],
  ['a picture of a fault', 'POST /api/bug-reports/upload', async () => ['/api/bug-reports/upload', formOf(pngOf())]],
  ['an avatar', 'POST /api/user/avatar', async () => ['/api/user/avatar', formOf(pngOf())]],
  [
    'the avatar of an agent',
    'POST /api/agents/:id/avatar',
    async (one: Person) => [`/api/agents/${await newAgent(one)}/avatar`, formOf(pngOf())],
  ],
  [
    'an icon',
    'POST /api/channels/:id/icon',
    async (one: Person) => [`/api/channels/${(await channelOf(one)).id}/icon`, formOf(pngOf())],
  ],
] as [string, string, (one: Person) => Promise<[string, FormData | object]>][])('%s (%s)', (name, _route, ask) => {
  test('of nobody, of a suspended person, or while the storage is away, is refused', async () => {
    const one = await person(server, `refused ${name}`)
    const [path, body] = await ask(one)
    expect((await post(path, body, { token: 'x', url: server.url })).status).toBe(401)
    for (const code of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
      const put = vi.spyOn(files, 'put').mockRejectedValueOnce(new AppError(code))
      expect((await post(path, body, one)).body.code).toBe(code)
      put.mockRestore()
    }
    expect(await post(path, body, one)).toMatchObject({ status: 200 })
    const updates = { is_banned: true, ban_reason: 'Spam' }
    await admin.rest('PATCH /api/admin/users', { userAddress: one.account, updates })
    await expect.poll(async () => (await post(path, body, one)).body.code).toBe('SUSPENDED')
  })
})

describe('an avatar', () => {
  test('of a person is shown from then on, without what is written about it', async () => {
    const { status, body } = await post(
      '/api/user/avatar',
      formOf(jpegOf({ about: [0, 1] }), { userAddress: who.account }),
    )
    expect([status, body.success]).toEqual([200, true])
    const { body: shown } = await who.rest(`GET /api/public/user?address=${who.account}`)
    expect(shown).toMatchObject({ user: { avatar_url: body.avatar_url } })
    const { type, bytes } = await get(body.avatar_url)
    expect([type, bytes.includes(secret)]).toEqual(['image/jpeg', false])
  })

  test('of an agent is given by its owner alone, also where the storage has a private address', async () => {
    const id = await newAgent(who)
    const { body } = await post(`/api/agents/${id}/avatar`, formOf(webpOf()))
    expect((await who.rest(`GET /api/agents/${id}`)).body).toMatchObject({ agent: { avatar_url: body.avatar_url } })
    const other = await person(server, 'another owner')
    expect((await post(`/api/agents/${id}/avatar`, formOf(webpOf()), other)).body.code).toBe('AGENT_NOT_FOUND')
    await who.rest(`PATCH /api/agents/${id}`, { visibility: 'public' })
    expect((await post(`/api/agents/${id}/avatar`, formOf(webpOf()), other)).body.code).toBe('AGENT_PRIVATE')
    expect((await post('/api/agents/none/avatar', formOf(webpOf()))).body.code).toBe('AGENT_NOT_FOUND')
  })

  test.each([
    'https://10.0.0.7/files/../admin.png',
    'https://10.0.0.7/files/media/avatar/../../admin.png',
    'https://10.0.0.7/filesystem/media/avatar/a.png',
    'https://10.0.0.7/files/media/avatar/a.png?x=1',
    'https://10.0.0.8/files/media/avatar/a.png',
  ])('T15: of an agent is not %s, which leads elsewhere in the network of the storage', async (avatarUrl) => {
    const owner = await person(server, `owner of ${avatarUrl.length}`)
    const { status, body } = await owner.rest(`PATCH /api/agents/${await newAgent(owner)}`, { avatarUrl })
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ error: expect.stringContaining('public internet') }),
    ])
  })

  test.each([
    ['over 2 MB', Buffer.alloc(2 * 1024 * 1024 + 1), 413],
    ['that is HTML', Buffer.from('<html>'), 415],
  ])('T23: %s is refused', async (_what, bytes, status) => {
    expect((await post('/api/user/avatar', formOf(bytes))).status).toBe(status)
  })
})

describe('the file of somebody else', () => {
  const stored = async (person: Person) => String((await post('/api/upload', formOf(pngOf()), person)).body.url)
  const isThere = async (url: string) => (await get(url)).type === 'image/png'

  test('is shown by nobody as their own picture, so nobody removes it, nor keeps it', async () => {
    const other = await person(server, `shows others' ${Math.random()}`)
    const agent = await newAgent(other)
    const room = await channelOf(other)
    const url = await stored(who)
    const tries: [string, object][] = [
      ['PATCH /api/user/profile', { avatar_url: url }],
      ['PATCH /api/user/profile', { custom_avatar_url: url }],
      ['POST /api/agents', { name: 'Showing', personality: 'kind', avatarUrl: url }],
      [`PATCH /api/agents/${agent}`, { avatarUrl: url }],
      [`PATCH /api/rooms/channel/${room.id}`, { icon_url: url }],
    ]
    for (const [route, body] of tries) {
      const answer = await other.rest(route, body)
      expect([route, answer.status, answer.code]).toEqual([route, 400, 'VALIDATION_ERROR'])
    }
    expect(await isThere(url)).toBe(true)
  })

  test('is no picture that goes when it is let go: it may be named by a message yet', async () => {
    const url = await stored(who)
    for (const custom_avatar_url of [url, null])
      expect((await who.rest('PATCH /api/user/profile', { custom_avatar_url })).status).toBe(200)
    expect(await isThere(url)).toBe(true)
    const room = await channelOf(who)
    await who.does('rest', messages.send, { room, text: `[IMAGE]${url}` })
  })
})

describe('an icon', () => {
  test('is set and taken away by the owner and the moderators, and told to the room', async () => {
    const moderator = await person(server, 'icon moderator')
    const room = await channelOf(who, moderator)
    await who.rest(`PATCH /api/channels/${room.id}/members/${moderator.account}/role`, { role: 'moderator' })
    for (const one of [who, moderator]) {
      const { status, body } = await post(`/api/channels/${room.id}/icon`, formOf(pngOf()), one)
      expect([status, body.success], JSON.stringify(body)).toEqual([200, true])
      const shown = async () => (await who.does('rest', rooms.get, { room })).room.icon_url
      expect(await shown()).toBe(body.icon_url)
      expect((await get(body.icon_url)).type).toBe('image/png')
      expect((await one.rest(`DELETE /api/channels/${room.id}/icon`)).body).toEqual({ success: true })
      expect(await shown()).toBeNull()
    }
  })

  test('is taken as JSON in base64 as well', async () => {
    const room = await channelOf(who)
    const large = Buffer.concat([pngOf(), Buffer.alloc(1_500_000, 'x')])
    const asked = { image: large.toString('base64'), mimeType: 'image/png' }
    const { status, body } = await post(`/api/channels/${room.id}/icon`, asked)
    expect([status, (await get(body.icon_url)).bytes]).toEqual([200, pngOf()])
    for (const [wrong, expected] of [
      [{ image: '%%%' }, '400 image: not base64'],
      [{}, '400 file is required'],
      [{ image: Buffer.alloc(2 * 1024 * 1024 + 3).toString('base64') }, '413 file: at most 2 MB'],
      [{ image: 'A'.repeat(4 * 1024 * 1024) }, '413 The request is too large.'],
    ] as const) {
      const answer = await post(`/api/channels/${room.id}/icon`, wrong)
      expect(`${answer.status} ${answer.body.error}`).toBe(expected)
    }
  })

  test('is refused of whom a room would refuse, and nothing is stored', async () => {
    const [member, banned] = [await person(server, 'm'), await person(server, 'b')]
    const room = await channelOf(who, member, banned)
    await who.rest(`PATCH /api/channels/${room.id}/members/${member.account}/role`, { role: 'moderator' })
    const put = vi.spyOn(files, 'put')
    const outcome = async (one: Person, path = `/api/channels/${room.id}/icon`) => [
      (await post(path, formOf(pngOf()), one)).body.code,
      (await one.rest(`DELETE ${path}`)).body.code,
    ]
    expect(await outcome(banned)).toEqual(['FORBIDDEN', 'FORBIDDEN'])
    await moderates(who, { room, action: 'mute', target: member.account, duration: '1h' })
    expect(await outcome(member)).toEqual(['MUTED', 'MUTED'])
    await moderates(who, { room, action: 'ban', target: banned.account })
    expect(await outcome(banned)).toEqual(['BANNED', 'BANNED'])
    expect(await outcome(who, '/api/channels/019b0000-0000-7000-8000-000000000000/icon')).toEqual([
      'ROOM_NOT_FOUND',
      'ROOM_NOT_FOUND',
    ])
    await who.does('rest', rooms.archive, { room })
    expect(await outcome(who)).toEqual(['ROOM_ARCHIVED', 'ROOM_ARCHIVED'])
    expect(put).not.toHaveBeenCalled()
    put.mockRestore()
  })
})

describe('media of a bug report', () => {
  const film = (begin: string) => Buffer.concat([Buffer.from(begin, 'latin1'), Buffer.alloc(1_000, 7)])
  test.each([
    ['MP4', film('\0\0\0\x20ftypisom\0\0\x02\0'), 'video', 'mp4', 'video/mp4'],
    ['QuickTime', film('\0\0\0\x14ftypqt  '), 'video', 'mov', 'video/quicktime'],
    ['WebM', film('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm'), 'video', 'webm', 'video/webm'],
    ['PNG', pngOf(), 'image', 'png', 'image/png'],
  ])('%s is known by its bytes', async (_name, bytes, type, end, mime) => {
    const { status, body } = await post('/api/bug-reports/upload', formOf(bytes))
    expect([status, body.type], JSON.stringify(body)).toEqual([200, type])
    expect(body.path).toMatch(new RegExp(`^bug-report/${who.account.toLowerCase()}/\\d{13}_[0-9a-z]{25}\\.${end}$`))
    expect(await get(body.url)).toEqual({ type: mime, bytes })
  })

  test.each([
    ['Matroska that is not WebM', film('\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska')],
    ['AVIF', film('\0\0\0\x20ftypavif')],
    ['HTML', film('<html>')],
    ['SVG that is called a box of QuickTime', film('<svgmoov')],
  ])('T23: %s is refused', async (_name, bytes) => {
    expect((await post('/api/bug-reports/upload', formOf(bytes))).body.code).toBe('UNSUPPORTED_MEDIA_TYPE')
  })

  test('T23: an image over 10 MB is refused, and a film over 50 MB', heavy, async () => {
    const image = Buffer.concat([pngOf(), Buffer.alloc(10 * 1024 * 1024)])
    expect((await post('/api/bug-reports/upload', formOf(image))).status).toBe(413)
    const long = Buffer.alloc(50 * 1024 * 1024 + 1)
    long.write('\0\0\0\x20ftypisom', 'latin1')
    expect((await post('/api/bug-reports/upload', formOf(long))).status).toBe(413)
  })
})

describe('pixel art', () => {
  test('has the hash that IPFS computes of one block', () => {
    expect(cidOf(Buffer.from('hello world'))).toBe('bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e')
  })

  test('is pinned where a service is configured, whose hash is told', async () => {
    const { body } = await post('/api/pixel-art/upload', artOf(pngOf({ width: 9 })))
    expect(body).toMatchObject({ success: true, ipfsHash: pinnedHash })
    expect(body.alternativeUrls).toHaveLength(3)
    expect(pinning.pinned.at(-1)?.bytes).toEqual(pngOf({ width: 9 }))
    for (const code of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
      pinning.away = code
      expect((await post('/api/pixel-art/upload', artOf(pngOf({ width: 10 })))).body.code).toBe(code)
    }
    pinning.away = null
  })

  test.each([
    ['nothing', {}, 400],
    ['a JPEG', { imageData: `data:image/jpeg;base64,${jpegOf().toString('base64')}` }, 415],
    ['a JPEG that is called a PNG', artOf(jpegOf()), 415],
    ['another scheme', { imageData: 'https://example.com/x.png' }, 400],
    ['no base64', { imageData: 'data:image/png;base64,%%%' }, 400],
    ['over 5 MB', artOf(Buffer.alloc(5 * 1024 * 1024 + 1)), 413],
    ['a body that is far too long', artOf(Buffer.alloc(8 * 1024 * 1024)), 413],
  ])('T23: %s is refused', async (_what, asked, status) => {
    expect((await post('/api/pixel-art/upload', asked)).status).toBe(status)
  })

  test('T23: a long body of nobody is not read', async () => {
    const asked = artOf(Buffer.alloc(4 * 1024 * 1024))
    expect((await post('/api/pixel-art/upload', asked, { token: 'x', url: server.url })).status).toBe(401)
  })
})
