// Modes: embedded, two-nodes-redis
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { decryptMedia, uploadFile } from '#client/sdk/media'
import { UploadRecords } from '#server/domains/media/files/model'
import { rulesIn } from '#server/domains/rooms/room-state/facts'
import type { View } from '#server/log/types'
import { localStorage } from '#server/ports/storage/local'
import { keyAt, type Storage } from '#server/ports/storage/port'
import { uploads } from '#shared/api/media/uploads'
import { moderation } from '#shared/api/moderation/moderation'
import { defaultRules, type RulesPatch } from '#shared/api/moderation/verdict'
import { ownData } from '#shared/api/platform/own-data'
import { messages } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { clientOf, conversationOf } from '#test/support/direct-clients'
import { channelOf, groupOf, listenTo, moderates, over, type Person, people } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'
import { unzip } from '#test/support/zip'

const megabyte = 1024 * 1024
let folder: string
let files: Storage
let server: Booted
let owner: Person
let member: Person
let outsider: Person
let admin: Person
let room: RoomRef & { id: string }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-files-'))
  files = await localStorage(folder)
  server = await boot({
    environment: {
      ADMINS: wallet('admin').address,
      UPLOAD_FILE_NEW_MB: '1',
      UPLOAD_FILE_MB: '2',
      UPLOAD_FILE_ADMIN_MB: '3',
    },
    services: { storage: files },
  })
  ;[owner, member, outsider, admin] = await people(server, 'owner', 'member', 'outsider', 'admin')
  room = await groupOf(owner, member)
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const pdf = Buffer.from('%PDF-1.7\n%%EOF\n')
const post = async (by: Person, bytes: Uint8Array, fields: Record<string, string>) => {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.set(name, value)
  body.set('file', new Blob([new Uint8Array(bytes)], { type: 'text/html' }), '../lies.html')
  const headers = { authorization: `Bearer ${by.token}` }
  const answer = await fetch(`${by.url}/api/upload/file`, { method: 'POST', headers, body })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const upload = async (name: string, bytes: Uint8Array = pdf, by = member) => {
  const { status, body } = await post(by, bytes, { name })
  expect([status, body]).toEqual([200, expect.anything()])
  return uploads.file.output.parse(body)
}
const attached = async (name: string, bytes: Uint8Array = pdf) => {
  const { url, name: called, size, mime } = await upload(name, bytes)
  return { text: called, attachments: [{ url, name: called, size, mime }] }
}
const get = (url: string, at = server.url) => fetch(`${at}${new URL(url).pathname}`)
const settle = (rules: RulesPatch, where: RoomRef = room) =>
  moderates(owner, { room: where, action: 'rules', patch: { rules } })
const allowedIn = async (who: Person, where: RoomRef) =>
  (await who.does('socket', messages.join, { room: where })).me.capabilities.file

describe('a file', () => {
  test.each(over)('is sent over %s with its name, size and type, and downloaded on every node', async (door) => {
    const draft = await attached('Plan for 2031.pdf')
    const live = await listenTo(owner, room)
    const { message } = await member.does(door, messages.send, { room, ...draft })
    expect(message.attachments).toEqual([
      { url: expect.any(String), name: 'Plan for 2031.pdf', size: pdf.length, mime: 'application/pdf' },
    ])
    await expect.poll(() => JSON.stringify(live.log(room))).toContain('Plan for 2031.pdf')
    for (const at of server.urls) {
      const found = await get(message.attachments[0]?.url ?? '', at)
      expect(found.status).toBe(200)
      expect(Object.fromEntries(found.headers)).toMatchObject({
        'content-type': 'application/pdf',
        'content-disposition': 'attachment; filename="Plan for 2031.pdf"',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      })
      expect(Buffer.from(await found.arrayBuffer())).toEqual(pdf)
    }
  })

  const html = Buffer.from('<!doctype html><script>alert(1)</script>')
  solo.each<[string, string, Uint8Array, string]>([
    ['HTML', 'page.html', html, 'application/octet-stream'],
    [
      'SVG',
      'picture.svg',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
      'application/octet-stream',
    ],
    ['XML', 'page.xhtml', Buffer.from('<?xml version="1.0"?><html/>'), 'application/octet-stream'],
    ['JavaScript', 'main.mjs', Buffer.from('alert(1)'), 'application/octet-stream'],
    ['a picture that is HTML, too', 'both.html', Buffer.concat([Buffer.from('GIF89a'), html]), 'image/gif'],
    ['a PDF that is HTML, too', 'both.html', Buffer.concat([pdf, html]), 'application/pdf'],
    ['HTML that is called a PDF', 'page.pdf', html, 'application/octet-stream'],
    ['a picture', 'a.txt', pngOf(), 'image/png'],
    ['a film', 'a.mp4', Buffer.from('\0\0\0\x18ftypisom\0\0\0\0', 'latin1'), 'video/mp4'],
    ['a song', 'a.mp3', Buffer.from('ID3\x04\0', 'latin1'), 'audio/mpeg'],
  ])('%s is served as its bytes are, and never inline', async (_title, name, bytes, type) => {
    const { url, mime } = await upload(name, bytes)
    expect(mime).toBe(type)
    for (const init of [{}, { headers: { range: 'bytes=0-1' } }, { method: 'HEAD' }]) {
      const { headers } = await fetch(`${server.url}${new URL(url).pathname}`, init)
      expect(headers.get('content-type')).toBe(type)
      expect(headers.get('content-disposition')).toMatch(new RegExp(`^attachment; filename="?${name}"?$`))
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    }
  })

  solo.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\plan.pdf', 'plan.pdf'],
    ['a\u202efdp.txt', 'afdp.txt'],
    ['a\u2066b\u200f.txt', 'ab.txt'],
    ['x\r\nSet-Cookie: a=b\r\n.txt', 'x Set-Cookie_ a=b .txt'],
    ['"; filename="b.html', '_; filename=_b.html'],
    ['.. .', 'file'],
    ['\u200b\u200b', 'file'],
    ['.htaccess', 'htaccess'],
    ['Übersicht 表.pdf', 'Übersicht 表.pdf'],
    [`${'n'.repeat(400)}.docx`, `${'n'.repeat(145)}.docx`],
    [`${'表'.repeat(150)}.pdf`, `${'表'.repeat(48)}.pdf`],
  ])('%j is called %j', async (given, name) => {
    const answer = await upload(given)
    expect(answer.name).toBe(name)
    const { status, headers } = await get(answer.url)
    const said = headers.get('content-disposition') ?? ''
    expect([status, headers.get('set-cookie')]).toEqual([200, null])
    const encoded = /filename\*=UTF-8''(.*)$/.exec(said)?.[1]
    expect(
      encoded === undefined ? /^attachment; filename="?([^"]*)"?$/.exec(said)?.[1] : decodeURIComponent(encoded),
    ).toBe(name)
    const sent = { room, text: 'x', attachments: [{ url: answer.url, name }] }
    expect((await member.does('rest', messages.send, sent)).message.attachments[0]?.name).toBe(name)
  })

  solo('says so where its name is too long', async () => {
    expect(await post(member, pdf, { name: 'n'.repeat(5_000) })).toMatchObject({
      status: 400,
      body: { error: 'name: too long, at most 512 bytes', code: 'VALIDATION_ERROR', path: 'name' },
    })
  })

  solo.each<[string, string, string]>([
    ['Windows', 'a.txt', 'MZ\x90\0'],
    ['Linux', 'a', '\x7fELF\x02'],
    ['macOS', 'a', '\xcf\xfa\xed\xfe'],
    ['a shell', 'read me.txt', '#!/bin/sh\n'],
    ...['exe', 'DLL', 'msi', 'bat', 'cmd', 'com', 'scr', 'ps1', 'vbs', 'hta', 'lnk', 'jar', 'js', 'iso', 'appx'].map(
      (ending): [string, string, string] => [`.${ending}`, `invoice.pdf.${ending}`, 'words'],
    ),
    ['.exe behind spaces and dots', 'a.exe . .', 'words'],
    ['.exe behind a sign that nobody sees', 'a.exe\u200b', 'words'],
  ])('a program of %s is refused', async (_title, name, bytes) => {
    const { status, body } = await post(member, Buffer.from(bytes, 'latin1'), { name })
    expect([status, body.error]).toEqual([415, expect.stringContaining('Programs cannot be sent here')])
    const sealedFile = Buffer.concat([randomBytes(40), Buffer.from(bytes)])
    const sealed = await post(member, sealedFile, { name, conversationId: room.id })
    expect(sealed.status).toBe(/\.(\w+)[.\s\u200b]*$/.test(name) && !name.endsWith('.txt') ? 415 : 200)
  })

  solo('its size is limited by the role of its sender', async () => {
    const sizeOf = async (by: Person, bytes: number) => (await post(by, Buffer.alloc(bytes), { name: 'a.bin' })).status
    expect([await sizeOf(member, megabyte), await sizeOf(member, megabyte + 1)]).toEqual([200, 413])
    expect([await sizeOf(admin, 3 * megabyte), await sizeOf(admin, 3 * megabyte + 1)]).toEqual([200, 413])
    server.setAhead(86_400)
    const [older] = await people(server, 'outsider')
    expect([await sizeOf(older, 2 * megabyte), await sizeOf(older, 2 * megabyte + 1)]).toEqual([200, 413])
    server.setAhead(0)
    expect((await post(member, Buffer.alloc(0), { name: 'a.bin' })).status).toBe(400)
    expect((await post({ ...member, token: 'x' }, pdf, { name: 'a.pdf' })).status).toBe(401)
    expect((await post(member, pdf, {})).status).toBe(400)
  })
})

solo('a file of a suspended person, or while the storage is away, is refused', async () => {
  const [banned] = await people(server, 'banned')
  const codeOf = async () => (await post(banned, pdf, { name: 'a.pdf' })).body.code
  for (const code of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
    const put = vi.spyOn(files, 'put').mockRejectedValueOnce(new AppError(code))
    expect(await codeOf()).toBe(code)
    put.mockRestore()
  }
  const updates = { is_banned: true, ban_reason: 'Spam' }
  await admin.rest('PATCH /api/admin/users', { userAddress: banned.account, updates })
  await expect.poll(codeOf).toBe('SUSPENDED')
})

describe.each(over)('the rule files_allowed, over %s', (door) => {
  test("is everybody's in groups and direct messages, and nobody's where strangers join", async () => {
    const channel = await channelOf(owner, member)
    const { rules } = await member.does('rest', moderation.rules, { chatType: 'channel', chatId: channel.id })
    expect(rules.files_allowed).toBe('disabled')
    expect(
      (await member.does('rest', moderation.rules, { chatType: 'group', chatId: room.id })).rules.files_allowed,
    ).toBe('everyone')
    expect(await allowedIn(member, channel)).toEqual({ ok: false, code: 'CONTENT_NOT_ALLOWED' })
    expect(await allowedIn(member, room)).toEqual({ ok: true, code: null })
    expect(await allowedIn(member, dmOf(member.account, owner.account))).toEqual({ ok: true, code: null })
    const draft = await attached('plan.pdf')
    for (const who of [member, owner]) {
      const own =
        who === member ? draft : { ...draft, attachments: [{ url: (await upload('plan.pdf', pdf, owner)).url }] }
      const refused = await who.refused(door, messages.send, { room: channel, ...own })
      expect(refused).toMatchObject({ code: 'CONTENT_NOT_ALLOWED', status: 403, message: 'Files are not allowed' })
      expect(refused.verdict).toMatchObject({ step: 'content_type', rule: { id: 'files_allowed', kind: 'setting' } })
    }
    expect((await member.does(door, messages.check, { room: channel, ...draft })).verdict).toMatchObject({ ok: false })
    expect((await member.does(door, messages.history, { room: channel })).messages).toEqual([])
  })

  test('is changed by a moderator, holds from the next message, and stays when another rule is changed', async () => {
    const channel = await channelOf(owner, member)
    const live = await listenTo(member, channel)
    const draft = await attached('plan.pdf')
    await settle({ slow_mode_seconds: 0, rules_text: 'Be kind.' }, channel)
    await expect.poll(() => live.log(channel).at(-1)?.data).toMatchObject({ rules: { files_allowed: 'disabled' } })
    await settle({ files_allowed: 'mods_only' }, channel)
    expect(await member.refused(door, messages.send, { room: channel, ...draft })).toMatchObject({
      code: 'CONTENT_NOT_ALLOWED',
    })
    await settle({ files_allowed: 'everyone' }, channel)
    expect((await member.does(door, messages.send, { room: channel, ...draft })).message.attachments).toHaveLength(1)
    await settle({ files_allowed: 'disabled' }, channel)
    await settle({ rules_text: null }, channel)
    expect(await member.refused(door, messages.send, { room: channel, ...draft })).toMatchObject({
      code: 'CONTENT_NOT_ALLOWED',
    })
  })

  test('holds beside the rules of pictures and sound', async () => {
    const group = await groupOf(owner, member)
    await settle({ photos_allowed: 'disabled' }, group)
    for (const [name, bytes] of [
      ['a.txt', pngOf()],
      ['a.png', pdf],
      ['a.mp4', pdf],
    ] as const)
      expect(
        await member.refused(door, messages.send, { room: group, ...(await attached(name, bytes)) }),
      ).toMatchObject({
        message: 'Photos are not allowed',
      })
    expect(await member.tries(door, messages.send, { room: group, ...(await attached('a.pdf')) })).toMatchObject({
      ok: true,
    })
  })

  test('takes files of the sender alone, under their own name', async () => {
    const { url, size } = await upload('plan.pdf')
    const refusal = { code: 'INVALID_PARAMETER', status: 400 }
    const closed = await channelOf(owner, member)
    expect(await owner.refused(door, messages.send, { room: closed, text: 'x', attachments: [{ url }] })).toMatchObject(
      {
        code: 'CONTENT_NOT_ALLOWED',
      },
    )
    const none = url.replace(/\d{13}_/, '1700000000000_')
    for (const [who, attachment] of [
      [owner, { url }],
      [owner, { url: `${url}?x=1` }],
      [member, { url: `${url}?x=1` }],
      [member, { url: none }],
      [member, { url, name: 'invoice.pdf' }],
      // A name that is left out would not be judged, and size and type may not lie.
      [member, { url }],
      [member, { url, name: 'plan.pdf', size: size + 1 }],
      [member, { url, name: 'plan.pdf', mime: 'text/plain' }],
    ] as const) {
      const draft = { room, text: 'x', attachments: [attachment] }
      expect(await who.refused(door, messages.send, draft)).toMatchObject(refusal)
      expect((await who.does(door, messages.check, draft)).verdict).toMatchObject({ ok: false })
    }
    const twice = [size + 1, size].map((one) => ({ url, name: 'plan.pdf', size: one }))
    expect(await member.refused(door, messages.send, { room, text: 'x', attachments: twice })).toMatchObject(refusal)
    for (const text of [`[IMAGE]${url}`, `[VOICE:1]${url}`, `[GIF]${url}`])
      expect(await member.refused(door, messages.send, { room, text })).toMatchObject(refusal)
  })

  test('holds for an edit of a message with a file, which keeps the file', async () => {
    const group = await groupOf(owner, member)
    const draft = await attached('plan.pdf')
    const { message } = await member.does(door, messages.send, { room: group, ...draft })
    const change = { room: group, id: message.id, text: 'Our plan' }
    expect((await member.does(door, messages.edit, change)).message.attachments).toEqual(draft.attachments)
    await settle({ files_allowed: 'disabled' }, group)
    expect(await member.refused(door, messages.edit, { ...change, text: 'Our other plan' })).toMatchObject({
      code: 'CONTENT_NOT_ALLOWED',
    })
  })

  test('its name counts once towards the length of a message', async () => {
    const group = await groupOf(owner, member)
    await settle({ max_message_length: 8 }, group)
    const [fits, long] = [await attached('plan.pdf'), await attached('plans.pdf')]
    expect((await member.does(door, messages.send, { room: group, ...fits })).message.attachments).toHaveLength(1)
    for (const draft of [long, { ...fits, text: 'plan' }])
      expect(await member.refused(door, messages.send, { room: group, ...draft })).toMatchObject({
        code: 'MESSAGE_TOO_LONG',
      })
  })

  test('is no link, and its address has no words', async () => {
    const group = await groupOf(owner, member)
    await settle({ links_allowed: 'disabled' }, group)
    await moderates(owner, {
      room: group,
      action: 'word_add',
      patch: { word: 'file|\\d{9}', is_regex: true, word_action: 'block' },
    })
    expect(await member.tries(door, messages.send, { room: group, ...(await attached('plan.pdf')) })).toMatchObject({
      ok: true,
    })
    await moderates(owner, { room: group, action: 'word_add', patch: { word: 'turnip', word_action: 'block' } })
    expect(await member.refused(door, messages.send, { room: group, ...(await attached('turnip.pdf')) })).toMatchObject(
      {
        code: 'BLOCKED_WORD',
      },
    )
  })
})

solo('rules that an older version has stored leave files to the kind of room', () => {
  const { files_allowed: _, ...older } = { ...defaultRules, rules_id: '', version: 3 }
  const viewOf = (key: string) =>
    ({ room: key, get: (name: string) => (name === 'rules' ? older : null) }) as unknown as View
  expect(rulesIn(viewOf('channel:1'))).toMatchObject({ files_allowed: 'disabled', version: 3 })
  expect(rulesIn(viewOf('group:1'))).toMatchObject({ files_allowed: 'everyone', version: 3 })
})

solo(
  'an outsider of the room does not learn the address of a file, whose holders can download it as a photo',
  async () => {
    const draft = await attached('secret.pdf')
    await member.does('rest', messages.send, { room, ...draft })
    expect(await outsider.refused('rest', messages.history, { room })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
    expect((await get(draft.attachments[0]?.url ?? '')).status).toBe(200)
    const guessed = (draft.attachments[0]?.url ?? '').replace(/_[0-9a-z]{25}\./, `_${'0'.repeat(25)}.`)
    expect((await get(guessed)).status).toBe(404)
  },
)

solo('a file goes with the last message that names it', async () => {
  const draft = await attached('plan.pdf')
  const url = draft.attachments[0]?.url ?? ''
  const { message } = await member.does('rest', messages.send, { room, ...draft })
  await member.does('rest', messages.remove, { room, id: message.id })
  await vi.waitFor(async () => expect((await get(url)).status).toBe(404))
  expect(await UploadRecords.exists({ _id: keyAt(server.url, url) ?? url })).toBeNull()
})

solo('a file goes with a message that a moderator removes or purges', async () => {
  const group = await groupOf(owner, member)
  const gone = (url = '') => vi.waitFor(async () => expect((await get(url)).status).toBe(404))
  const [one, other] = [await attached('plan.pdf'), await attached('plan.pdf')]
  const { message } = await member.does('rest', messages.send, { room: group, ...one })
  await member.does('rest', messages.send, { room: group, ...other })
  await owner.does('rest', messages.remove, { room: group, id: message.id })
  await gone(one.attachments[0]?.url)
  expect((await get(other.attachments[0]?.url ?? '')).status).toBe(200)
  await moderates(owner, { room: group, action: 'purge', target: member.account })
  await gone(other.attachments[0]?.url)
})

solo('a file is in the archive of its owner under its name', async () => {
  const draft = await attached('Übersicht.pdf')
  await member.does('rest', messages.send, { room, ...draft })
  await member.does('rest', ownData.beginExport, { include_media: true })
  const found = await vi.waitFor(
    async () => {
      const { url, export: begun } = await member.does('rest', ownData.readExport, {})
      expect(begun?.state).toBe('ready')
      return url ?? ''
    },
    { timeout: 20_000, interval: 50 },
  )
  const archive = await fetch(`${member.url}${new URL(found).pathname}`)
  const files = unzip(Buffer.from(await archive.arrayBuffer()))
  const [, bytes] = [...files].find(([name]) => name.endsWith('/Übersicht.pdf')) ?? []
  expect(bytes).toEqual(pdf)
  const uploadRows = JSON.parse(String(files.get('data/uploads.json') ?? files.get('data/files.json'))) as object
  expect(JSON.stringify(uploadRows)).toContain(draft.attachments[0]?.url)
})

solo('a sealed file is stored as it is, and named inside of a direct message', async () => {
  const [ours, theirs] = await Promise.all(['seals', 'opens'].map((name) => clientOf(server, name)))
  if (!ours || !theirs) throw new Error('No client')
  const [mine, other] = [conversationOf(ours, theirs), conversationOf(theirs, ours)]
  const { key, epochId } = await mine.conversationKey()
  const seal = { key, conversationId: mine.ref.id ?? '' }
  const { attachment, salt } = await uploadFile(ours, { file: new Blob([pdf]), name: 'a/Plan.pdf', seal })
  expect(attachment).toMatchObject({ name: 'Plan.pdf', size: pdf.length })
  expect(attachment.url).toContain('/chat-images/encrypted/')
  mine.send({ text: 'Plan.pdf', attachments: [attachment], mediaEpoch: epochId, mediaSalt: salt ?? '' })
  await expect.poll(() => other.state.messages.at(-1)?.attachments, { timeout: 15_000 }).toEqual([attachment])
  const opened = await other.conversationKey(other.state.messages.at(-1)?.secrecy?.epochId)
  const stored = Buffer.from(await (await get(attachment.url)).arrayBuffer())
  expect(stored.includes(pdf)).toBe(false)
  expect(Buffer.from(await (await decryptMedia(stored, opened.key)).arrayBuffer())).toEqual(pdf)
  const row = await UploadRecords.findById(keyAt(`${server.url}/files`, attachment.url) ?? attachment.url).lean()
  expect(JSON.stringify(row)).not.toContain('Plan')
  for (const client of [ours, theirs]) client.close()
})

solo('programs are taken where the operator allows it, and files count for the day of their account', async () => {
  await server.close()
  server = await boot({ environment: { UPLOAD_PROGRAMS: 'on', UPLOAD_QUOTA_MB: '1' }, services: { storage: files } })
  const [builder] = await people(server, 'builder')
  const { mime } = uploads.file.output.parse((await post(builder, Buffer.from('MZ'), { name: 'setup.exe' })).body)
  expect(mime).toBe('application/octet-stream')
  expect((await post(builder, Buffer.alloc(megabyte), { name: 'a.bin' })).body).toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
  })
})
