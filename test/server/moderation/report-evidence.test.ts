// Modes: embedded
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type Client,
  createClient,
  decryptMedia,
  mediaIn,
  memoryStorage,
  uploadEvidence,
  uploadImage,
  uploadVoice,
} from '#client/sdk/index'
import { UploadRecords } from '#server/domains/media/files/model'
import { sweepFiles } from '#server/domains/media/uploads/store'
import { Reports } from '#server/domains/moderation/social/model'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'
import { moderation } from '#shared/api/moderation/moderation'
import { social } from '#shared/api/moderation/social'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { dmOf } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { clientOf } from '#test/support/direct-clients'
import { heavy } from '#test/support/heavy'
import { outcomeOf, over, type Person, pathOf, people, person, sealed } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { script, sharedRoom } from '#test/support/shared-key'
import { wallet } from '#test/support/wallet'

let folder: string
let files: Storage
let server: Booted
let admin: Person
/** Who sent a picture in a direct message, who was sent it, and somebody else. */
let [loud, hurt, other] = [] as unknown as [Person, Person, Person]
let round = 0
const open: Client[] = []
const node = () => {
  const [app] = server.apps
  if (!app) throw new Error('No node')
  return app.node
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-evidence-'))
  files = await localStorage(folder)
  server = await boot({
    environment: { ADMINS: wallet('admin').address },
    services: { attendance: script, storage: files },
  })
  admin = await person(server, 'admin')
})
beforeEach(async () => {
  round++
  ;[loud, hurt, other] = await people(server, `loud ${round}`, `hurt ${round}`, `other ${round}`)
})
afterAll(async () => {
  for (const client of open) client.close()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const key = new Uint8Array(randomBytes(32))
const picture = new Blob([new Uint8Array(pngOf({ about: [1] }))], { type: 'image/png' })
const clientFor = ({ url, token }: Person) => {
  const client = createClient({ url, token, transport: 'rest', storage: memoryStorage() })
  open.push(client)
  return client
}
/** A picture that one sends another, sealed. */
async function sent(by = loud, to = hurt) {
  const room = dmOf(by.account, to.account)
  const { url, salt } = await uploadImage(clientFor(by), { image: picture, key, conversationId: room.id ?? '' })
  const { message } = await by.does('rest', messages.send, { room, text: sealed(), blobs: [pathOf(url)] })
  return { messageId: message.id, url, salt }
}
const handIn = async (by: Person, fields: Record<string, string | Blob | undefined>) => {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value)
  const headers = { authorization: `Bearer ${by.token}` }
  const response = await fetch(`${by.url}/api/users/report/evidence`, { method: 'POST', headers, body })
  const told = (await response.json()) as { evidence: string; is_as_sent: boolean; error: string; code: string }
  return { status: response.status, ...told }
}
const about = (messageId: string, evidence: string) =>
  ({ reportedAddress: loud.account, reportType: 'harassment', messageId, evidence }) as const
/** A report with a picture as it was sent. */
async function reported() {
  const { messageId, url, salt } = await sent()
  const { evidence } = await handIn(hurt, { file: picture, messageId, url, salt })
  const { report } = await hurt.does('rest', social.report, about(messageId, evidence))
  return { item: report.id, messageId, evidence }
}
const itemOf = async (who: Person, id: string) =>
  (await who.does('socket', moderation.queue, { scope: 'global' })).queue.find((item) => item.id === id)
const look = (who: Person, item: string) => who.tries('rest', moderation.evidence, { item })
const evidenceFiles = async () => {
  const keys: string[] = []
  for await (const { key } of files.list('media')) if (key.startsWith('media/private/')) keys.push(key)
  return keys.filter((key) => key.includes(hurt.account.toLowerCase()))
}

test('a picture of a room with a shared key is opened, reported, verified, and seen by its moderators, through the SDK', async () => {
  const { room } = await sharedRoom(other, loud, hurt)
  const [hers, his] = await Promise.all(
    [`loud ${round}`, `hurt ${round}`].map(async (name) => {
      const client = await clientOf(server, name, { keys: null })
      open.push(client)
      return client
    }),
  )
  if (!hers || !his) throw new Error('No clients')
  const live = his.room(room)
  const { key, epochId } = await hers.room(room).conversationKey()
  const { marker, salt } = await uploadImage(hers, { image: picture, key, conversationId: room.id })
  hers.room(room).send({ text: marker, mediaEpoch: epochId, mediaSalt: salt })
  await expect.poll(() => live.state.messages[0]?.content, { timeout: 15_000 }).toBe(marker)
  const message = live.state.messages[0]
  const media = mediaIn(message?.content ?? '')
  if (!message || media?.kind !== 'image') throw new Error('No picture')
  const bytes = await (await fetch(`${server.url}${new URL(media.url).pathname}`)).blob()
  const data = await decryptMedia(bytes, (await live.conversationKey()).key, media.type)
  const handed = { messageId: message.id, url: media.url, salt: message.secrecy?.mediaSalt, data }
  const { evidence, is_as_sent } = await uploadEvidence(his, handed)
  expect(is_as_sent).toBe(true)
  const conversation = { conversationType: 'channel', conversationId: room.id } as const
  const { report } = await his.social.report({ ...about(message.id, evidence), ...conversation })
  const seen = await other.does('rest', moderation.evidence, { item: report.id })
  expect(seen).toMatchObject({ type: 'image/png', is_as_sent: true })
  expect(Buffer.from(seen.data, 'base64').equals(Buffer.from(await picture.arrayBuffer()))).toBe(true)
  // With a salt that is none of this file, the SDK hands it in without.
  expect((await uploadEvidence(his, { ...handed, salt: 'a'.repeat(64) })).is_as_sent).toBe(false)
})

test.each(over)(
  'a report over %s names it; the queue says that it is as sent, and the text of a report has no file',
  async (door) => {
    const { messageId, url, salt } = await sent()
    const { evidence, is_as_sent } = await handIn(hurt, { file: picture, messageId, url, salt })
    expect(is_as_sent).toBe(true)
    const { report } = await hurt.does(door, social.report, about(messageId, evidence))
    const { report: bare } = await hurt.does(door, social.report, {
      ...about(messageId, ''),
      evidence: null,
      reportType: 'spam',
    })
    expect((await itemOf(admin, report.id))?.evidence).toEqual({ type: 'image/png', is_as_sent: true })
    expect((await itemOf(admin, bare.id))?.evidence).toBeNull()
    expect(outcomeOf(await look(admin, bare.id))).toBe('404 NOT_FOUND')
  },
)

test('a voice message is evidence, too', async () => {
  const room = dmOf(loud.account, hurt.account)
  const voice = new Blob([Buffer.from('1a45dfa3', 'hex'), 'webm'.padEnd(100)], { type: 'audio/webm' })
  const conversationId = room.id ?? ''
  const { url, salt } = await uploadVoice(clientFor(loud), { voice, seconds: 2, key, conversationId })
  const { message } = await loud.does('rest', messages.send, { room, text: sealed(), blobs: [pathOf(url)] })
  const handed = await handIn(hurt, { file: voice, messageId: message.id, url, salt })
  const { report } = await hurt.does('rest', social.report, about(message.id, handed.evidence))
  expect(await admin.does('rest', moderation.evidence, { item: report.id })).toMatchObject({ type: 'audio/webm' })
})

describe('what its sender has not committed to in this conversation is not said to be as sent', () => {
  test.each([
    ['without its salt', async () => ({ ...(await sent()), salt: undefined })],
    [
      'of a file without a commitment',
      async () => {
        const given = await sent()
        await UploadRecords.updateOne({ url: given.url }, { $unset: { commitment: '' } })
        return given
      },
    ],
    [
      'that was sent to somebody else',
      async () => ({ ...(await sent(loud, other)), messageId: (await sent()).messageId }),
    ],
  ])('%s', async (_title, make) => {
    const { messageId, url, salt } = await make()
    const { status, evidence, is_as_sent } = await handIn(hurt, { file: picture, messageId, url, salt })
    expect([status, is_as_sent]).toEqual([200, false])
    const { report } = await hurt.does('rest', social.report, about(messageId, evidence))
    expect(await admin.does('rest', moderation.evidence, { item: report.id })).toMatchObject({ is_as_sent: false })
  })
})

describe('T51: evidence is refused', () => {
  test('of a message that the caller cannot read, or that is none', async () => {
    const { messageId, url, salt } = await sent()
    for (const [who, id] of [
      [other, messageId],
      [admin, messageId],
      [hurt, 'nothing'],
    ] as const)
      expect(await handIn(who, { file: picture, messageId: id, url, salt })).toMatchObject({
        status: 404,
        code: 'NOT_FOUND',
      })
    const { room } = await sharedRoom(loud, hurt)
    const image = await uploadImage(clientFor(loud), { image: picture, key, conversationId: room.id })
    await hurt.does('rest', rooms.leave, { room })
    expect((await handIn(hurt, { file: picture, messageId, url: image.url, salt: image.salt })).is_as_sent).toBe(false)
  })

  test('of a file that somebody else sent, that is public, or that is none', async () => {
    const { messageId, url } = await sent()
    const { url: theirs } = await sent(other, hurt)
    const form = new FormData()
    form.set('file', picture)
    const headers = { authorization: `Bearer ${loud.token}` }
    const answer = await fetch(`${loud.url}/api/upload`, { method: 'POST', headers, body: form })
    const { url: open } = (await answer.json()) as { url: string }
    for (const named of [theirs, open, url.replace(/\w+\.enc$/, 'x.enc'), 'https://example.com/a.enc', ''])
      expect(await handIn(hurt, { file: picture, messageId, url: named })).toMatchObject({ status: 404 })
  })

  test('with another salt, or another file, of another kind, or too large', heavy, async () => {
    const { messageId, url, salt } = await sent()
    const asked = { file: picture, messageId, url, salt }
    const changed = new Blob([picture, 'x'])
    const large = new Blob([picture, Buffer.alloc(10 * 1024 * 1024)])
    for (const [wrong, expected, says] of [
      [{ salt: 'a'.repeat(64) }, 400, 'committed to'],
      [{ file: changed }, 400, 'committed to'],
      [{ salt: 'x' }, 400, 'salt: 64 hexadecimal digits'],
      [{ file: new Blob(['<svg onload="alert(1)">'.padEnd(100)]) }, 415, 'not a picture'],
      [{ file: new Blob([]) }, 415, 'not a picture'],
      [{ file: large }, 413, 'at most'],
      [{ file: undefined }, 400, 'file is required'],
    ] as const) {
      const { status, error } = await handIn(hurt, { ...asked, ...wrong })
      expect([status, error]).toEqual([expected, expect.stringContaining(says)])
    }
    expect(await evidenceFiles()).toEqual([])
  })

  test('in a report by somebody else, of another message, or that was never handed in', async () => {
    const [{ messageId, url, salt }, another] = [await sent(), await sent()]
    const { evidence } = await handIn(hurt, { file: picture, messageId, url, salt })
    const says = 'evidence: none that you handed in for this message'
    for (const [who, input] of [
      [other, about(messageId, evidence)],
      [hurt, about(another.messageId, evidence)],
      [hurt, { ...about(messageId, evidence), messageId: null }],
      [hurt, about(messageId, 'nothing.png')],
      [hurt, about(messageId, `../${evidence}`)],
    ] as const)
      for (const door of over)
        expect(await who.refused(door, social.report, input)).toMatchObject({ status: 400, message: says })
    // What was refused does not use up the report of the day.
    await hurt.does('rest', social.report, about(messageId, evidence))
  })

  test('of a suspended person, or while the storage is away', async () => {
    const asked = { file: picture, ...(await sent()) }
    for (const code of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
      const put = vi.spyOn(files, 'put').mockRejectedValueOnce(new AppError(code))
      expect((await handIn(hurt, asked)).code).toBe(code)
      put.mockRestore()
    }
    const updates = { is_banned: true, ban_reason: 'Spam' }
    await admin.rest('PATCH /api/admin/users', { userAddress: hurt.account, updates })
    await expect.poll(async () => (await handIn(hurt, asked)).code).toBe('SUSPENDED')
  })
})

describe('T51: evidence is read', () => {
  test('by who may decide the report alone: not by its sender, its reporter, or anybody else', async () => {
    const { item } = await reported()
    for (const who of [loud, hurt, other]) expect(outcomeOf(await look(who, item))).toBe('404 NOT_FOUND')
    expect(outcomeOf(await look(admin, 'nothing'))).toBe('404 NOT_FOUND')
    expect(outcomeOf(await look(admin, item))).toBe('200')
  })

  test('at no address, whoever knows its key', async () => {
    const { item, evidence } = await reported()
    const [key = ''] = await evidenceFiles()
    expect([key.endsWith(evidence), await files.sizeOf(key)]).toEqual([true, picture.size])
    for (const path of [
      key,
      key.replace('private', 'Private'),
      key.replace('/private', '/%70rivate'),
      `media//${key.slice(6)}`,
    ])
      for (const method of ['GET', 'HEAD'])
        expect((await fetch(`${server.url}/files/${path}`, { method })).status).toBe(404)
    expect(JSON.stringify(await itemOf(admin, item))).not.toContain(evidence)
    const url = `http://localhost:3000/files/${key}`
    expect((await other.rest(`GET /api/upload/commitment?url=${encodeURIComponent(url)}`)).status).toBe(404)
  })

  test('while its storage is away, or has lost it, as an error', async () => {
    const { item } = await reported()
    for (const code of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
      const read = vi.spyOn(files, 'read').mockRejectedValueOnce(new AppError(code))
      expect(await look(admin, item)).toMatchObject({ error: { code } })
      read.mockRestore()
    }
    const [key = ''] = await evidenceFiles()
    await files.remove(key)
    expect(outcomeOf(await look(admin, item))).toBe('404 NOT_FOUND')
  })
})

describe('evidence is kept', () => {
  const sweep = () => sweepFiles(node(), new AbortController().signal)

  test('until its report is decided, and no longer', async () => {
    const { item } = await reported()
    await admin.does('rest', moderation.decide, { item, decision: 'reviewed' })
    expect(await evidenceFiles()).toHaveLength(1)
    const decided = await admin.does('rest', moderation.decide, { item, decision: 'dismissed' })
    expect(decided.item.evidence).toBeNull()
    expect(await evidenceFiles()).toEqual([])
    expect(outcomeOf(await look(admin, item))).toBe('404 NOT_FOUND')
  })

  test('until an admin reviews the report', async () => {
    const { item } = await reported()
    await admin.rest('PATCH /api/users/report', { reportId: item, status: 'action_taken' })
    expect(await evidenceFiles()).toEqual([])
  })

  test('as long as another report names it', async () => {
    const { item, messageId, evidence } = await reported()
    const second = { ...about(messageId, evidence), reportType: 'violence' } as const
    const { report } = await hurt.does('rest', social.report, second)
    await admin.does('rest', moderation.decide, { item, decision: 'action_taken' })
    expect(outcomeOf(await look(admin, report.id))).toBe('200')
    await admin.does('rest', moderation.decide, { item: report.id, decision: 'action_taken' })
    expect(await evidenceFiles()).toEqual([])
  })

  test('for a day where no report names it, and by the sweep where one does', async () => {
    const { messageId, url, salt } = await sent()
    await handIn(hurt, { file: picture, messageId, url, salt })
    const { evidence } = await handIn(hurt, { file: picture, messageId, url, salt })
    await hurt.does('rest', social.report, about(messageId, evidence))
    await sweep()
    expect(await evidenceFiles()).toHaveLength(2)
    server.setAhead(2 * 86_400)
    await sweep()
    server.setAhead(0)
    expect((await evidenceFiles()).map((key) => key.endsWith(evidence))).toEqual([true])
  })
})

test('a report that an older version stored has none', async () => {
  const { item } = await reported()
  await Reports.updateOne({ _id: item }, { $unset: { evidence_key: '', is_as_sent: '' } })
  expect((await itemOf(admin, item))?.evidence).toBeNull()
  await admin.does('rest', moderation.decide, { item, decision: 'dismissed' })
})
