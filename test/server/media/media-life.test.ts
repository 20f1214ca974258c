// Modes: embedded, two-nodes-redis
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { withKeptFiles } from '#server/domains/media/files/claims'
import { UploadQuotas, UploadRecords } from '#server/domains/media/files/model'
import { removeFile, removeUnnamedFiles, removingFiles } from '#server/domains/media/files/removal'
import { sweepFiles } from '#server/domains/media/uploads/store'
import type { Job } from '#server/kernel/context'
import { localStorage } from '#server/ports/storage/local'
import { keyAt, type Storage } from '#server/ports/storage/port'
import { uploads } from '#shared/api/media/uploads'
import { social } from '#shared/api/moderation/social'
import { messages } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { clientOf, conversationOf } from '#test/support/direct-clients'
import { heavy } from '#test/support/heavy'
import { channelOf, moderates, over, type Person, pathOf, person, say, sealed } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

const day = 86_400
let folder: string
let files: Storage
let server: Booted
let who: Person
let other: Person
let admin: Person
let room: RoomRef & { id: string }
let ahead = 0
const node = () => {
  const [app] = server.apps
  if (!app) throw new Error('No node')
  return app.node
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-media-'))
  files = await localStorage(folder)
  server = await boot({ environment: { ADMINS: wallet('admin').address }, services: { storage: files } })
  await signIn()
})
// Sessions end within the days that pass here.
const signIn = async () => {
  who = await person(server, 'sender')
  other = await person(server, 'other')
  admin = await person(server, 'admin')
}
beforeEach(async () => {
  room = await channelOf(admin, who, other)
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const file = () => new File([randomBytes(1_000)], 'x')
const post = async ({ token, url }: Person, path: string, fields: Record<string, string | Blob>) => {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.set(name, value)
  const response = await fetch(`${url}${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}
const upload = async (by = who, conversationId = room.id, given = file()) => {
  const { body } = await post(by, '/api/upload/image', { file: given, conversationId })
  return uploads.image.output.parse(body).url
}
const picture = () => new File([new Uint8Array(pngOf({ about: [...randomBytes(8)] }))], 'x')
const marker = (url: string) => `[ENC_IMAGE:image/jpeg]${url}`
const keyOf = (url: string) => keyAt('http://localhost:3000/files', url) ?? ''
const isThere = async (url: string) => (await fetch(`${server.url}${new URL(url).pathname}`)).status === 200
const sweep = () => sweepFiles(node(), new AbortController().signal)
const passDays = (days: number) => {
  ahead += days * day
  server.setAhead(ahead)
}

describe.each(over)('over %s', (door) => {
  solo('a deleted message takes its file with it', async () => {
    const url = await upload()
    const message = await say(who, room, marker(url))
    expect(await isThere(url)).toBe(true)
    await who.does(door, messages.remove, { room, id: message.id })
    expect(await isThere(url)).toBe(false)
    expect(await UploadRecords.exists({ _id: keyOf(url) })).toBeNull()
  })

  solo('so does an attachment', async () => {
    const url = (await post(who, '/api/upload', { file: picture() })).body.url ?? ''
    const { message } = await who.does(door, messages.send, { room, text: 'Look', attachments: [{ url }] })
    await admin.does(door, messages.remove, { room, id: message.id })
    expect(await isThere(url)).toBe(false)
  })

  solo('an edit takes the file that it names no more', async () => {
    const [url, next] = [await upload(), await upload()]
    const { id } = await say(who, room, marker(url))
    await who.does(door, messages.edit, { room, id, text: marker(next) })
    expect([await isThere(url), await isThere(next)]).toEqual([false, true])
    await who.does(door, messages.remove, { room, id })
    expect(await isThere(next)).toBe(false)
  })

  solo('a file stays as long as another message of its sender names it', async () => {
    const url = await upload()
    const [one, two] = [await say(who, room, marker(url)), await say(who, room, `Once more: ${url}.`)]
    await say(other, room, `Mine? ${url}`)
    await who.does(door, messages.remove, { room, id: one.id })
    expect(await isThere(url)).toBe(true)
    await who.does(door, messages.remove, { room, id: two.id })
    expect(await isThere(url)).toBe(false)
  })

  solo('no message names a file that is not there, or of somebody else', async () => {
    const url = await upload()
    const never = url.replace(/\w+\.enc$/, 'nothing.enc')
    const theirs = (await upload(other)).replace(other.account.toLowerCase(), who.account.toLowerCase())
    const { id } = await say(who, room, 'Words')
    // Under an address without its bucket nothing is served.
    const bare = url.replace('chat-images/', '')
    for (const missing of [never, theirs, bare]) {
      const text = marker(missing)
      const attachments = [{ url: missing.replace('chat-images/encrypted/', 'media/chat/') }]
      const refused = [
        await who.refused(door, messages.send, { room, text }),
        await who.refused(door, messages.edit, { room, id, text }),
        // Such an address is a link as any other.
        ...(missing === bare ? [] : [await who.refused(door, messages.send, { room, text: 'Look', attachments })]),
      ]
      for (const { code, status, verdict } of refused)
        expect({ code, status, step: verdict?.step }).toEqual({
          code: 'INVALID_PARAMETER',
          status: 400,
          step: 'content_type',
        })
      const { verdict } = await who.does(door, messages.check, { room, text })
      expect(verdict).toMatchObject({ ok: false, code: 'INVALID_PARAMETER' })
    }
  })

  solo('a direct message keeps what it declares, and takes it with it', async () => {
    const dm = dmOf(who.account, other.account)
    const url = await upload(who, dm.id)
    const missing = url.replace(/\w+\.enc$/, 'nothing.enc')
    expect(
      await who.refused(door, messages.send, { room: dm, text: sealed(), blobs: [pathOf(missing)] }),
    ).toMatchObject({
      code: 'INVALID_PARAMETER',
    })
    const { message } = await who.does(door, messages.send, { room: dm, text: sealed(), blobs: [pathOf(url)] })
    await who.does(door, messages.edit, { room: dm, id: message.id, text: sealed(41) })
    passDays(2)
    await sweep()
    expect(await isThere(url)).toBe(true)
    await who.does(door, messages.remove, { room: dm, id: message.id })
    expect(await isThere(url)).toBe(false)
  })
})

solo.each(over)(
  'a message declares files of its sender alone; nothing else is dropped in silence (%s)',
  async (door) => {
    const own = await upload()
    const theirs = await upload(other)
    const dm = dmOf(who.account, other.account)
    const { id } = await say(who, room, 'Words')
    const elsewhere = ['https://example.com/a.enc', own, keyOf(own), `${pathOf(own)}?x`, '../a.enc', pathOf(theirs)]
    for (const path of elsewhere) {
      const blobs = [pathOf(own), path]
      const refused = [
        await who.refused(door, messages.send, { room: dm, text: sealed(), blobs }),
        await who.refused(door, messages.send, { room, text: 'Words', blobs }),
        await who.refused(door, messages.edit, { room, id, text: 'Other words', blobs }),
      ]
      for (const { code, status } of refused) expect([path, code, status]).toEqual([path, 'INVALID_PARAMETER', 400])
      const { verdict } = await who.does(door, messages.check, { room, text: 'Words', blobs })
      expect(verdict).toMatchObject({ ok: false, code: 'INVALID_PARAMETER' })
    }
    const { message } = await who.does(door, messages.send, { room, text: 'Words', blobs: [pathOf(own)] })
    passDays(2)
    await signIn()
    await sweep()
    expect(await isThere(own)).toBe(true)
    await who.does(door, messages.remove, { room, id: message.id })
    expect(await isThere(own)).toBe(false)
  },
)

solo.each(over)('a location is somewhere on earth (%s)', async (door) => {
  for (const place of ['{}', '{"latitude":952,"longitude":1}', '{"lat":1}'])
    expect(await who.refused(door, messages.send, { room, text: `[LOCATION]${place}` })).toMatchObject({
      code: 'INVALID_PARAMETER',
      status: 400,
    })
  await who.does(door, messages.send, { room, text: '[LOCATION]{"latitude":52.517,"longitude":13.389}' })
})

solo('a purge takes the files of its messages', async () => {
  const urls = [await upload(), await upload()]
  for (const url of urls) await say(who, room, marker(url))
  await moderates(admin, { action: 'purge', room, target: who.account })
  expect(await Promise.all(urls.map(isThere))).toEqual([false, false])
})

solo('a picture that is replaced or taken away goes', async () => {
  const avatar = async () => (await post(who, '/api/user/avatar', { file: picture() })).body.avatar_url ?? ''
  const icon = (await post(admin, `/api/channels/${room.id}/icon`, { file: picture() })).body.icon_url ?? ''
  const [one, two] = [await avatar(), await avatar()]
  const { agent } = (await who.rest('POST /api/agents', { name: 'Shown', personality: 'kind' })).body as {
    agent: { id: string }
  }
  const face = (await post(who, `/api/agents/${agent.id}/avatar`, { file: picture() })).body.avatar_url ?? ''
  passDays(2)
  await sweep()
  expect(await Promise.all([one, two, icon, face].map(isThere))).toEqual([false, true, true, true])
  await admin.does('rest', uploads.removeIcon, { room })
  expect(await isThere(icon)).toBe(false)
})

solo('the SDK declares what a direct message names', async () => {
  const [hers, his] = [await clientOf(server, 'hers'), await clientOf(server, 'his')]
  const live = conversationOf(hers, his)
  const { url } = await hers.uploads.image({ file: file(), conversationId: live.ref.id ?? '' })
  live.send({ text: marker(url) })
  await expect.poll(() => live.state.messages.map(({ local }) => local), { timeout: 15_000 }).toEqual(['sent'])
  expect(await UploadRecords.exists({ _id: keyOf(url), checked_at: { $exists: true } })).not.toBeNull()
  const [message] = live.state.messages
  await live.remove(message?.id ?? '')
  expect(await isThere(url)).toBe(false)
  for (const client of [hers, his]) client.close()
})

solo('a vector of a file that was removed is used by no other, and the same file may come again', async () => {
  const vector = randomBytes(12)
  const begun = () => new File([vector, randomBytes(100)], 'x')
  const given = begun()
  const send = (one: File) => post(who, '/api/upload/image', { file: one, conversationId: room.id })
  const first = await send(given)
  const message = await say(who, room, marker(first.body.url ?? ''))
  await who.does('rest', messages.remove, { room, id: message.id })
  expect(await isThere(first.body.url ?? '')).toBe(false)
  expect((await send(begun())).status).toBe(409)
  expect(await UploadRecords.countDocuments({ owner: who.account, bytes: 112 })).toBe(0)
  expect((await send(given)).status).toBe(200)
})

describe('the sweep', () => {
  beforeEach(async () => {
    await signIn()
    room = await channelOf(admin, who, other)
  })

  solo('takes after a day what nothing names, wherever it was for, and nothing else', heavy, async () => {
    const dm = dmOf(who.account, other.account)
    const [forgotten, named, direct, elsewhere] = [
      await upload(),
      await upload(),
      await upload(who, dm.id),
      await upload(who, 'somewhere'),
    ]
    const fault = async () => (await post(who, '/api/bug-reports/upload', { file: picture() })).body.url ?? ''
    const [unnamed, reported] = [await fault(), await fault()]
    const description = `Look at ${reported}.`
    const { report } = await who.does('rest', social.report, {
      reportedAddress: other.account,
      reportType: 'other',
      description,
    })
    const left = `chat-images/encrypted/${who.account.toLowerCase()}/a/left.enc`
    await files.put(left, file())
    const now = new Date(node().now())
    await utimes(join(folder, left), now, now)
    await say(who, room, marker(named))
    const declared = await upload(who, dm.id)
    await who.does('rest', messages.send, { room: dm, text: sealed(), blobs: [pathOf(declared)] })
    const undeclared = [forgotten, direct, elsewhere, unnamed, `http://localhost:3000/files/${left}`]
    const spared = [named, declared, reported]
    const all = [...undeclared, ...spared]
    const after = [...undeclared.map(() => false), ...spared.map(() => true)]
    await sweep()
    passDays(0.9)
    await sweep()
    expect(await Promise.all(all.map(isThere))).toEqual(all.map(() => true))
    passDays(0.2)
    const young = await upload()
    await sweep()
    expect(await Promise.all(all.map(isThere))).toEqual(after)
    expect(await isThere(young)).toBe(true)
    passDays(3)
    await sweep()
    expect(await Promise.all(all.map(isThere))).toEqual(after)
    await signIn()
    await admin.does('rest', social.review, { reportId: report.id, status: 'dismissed' })
    expect(await isThere(reported)).toBe(false)
  })

  solo('takes also what was left by a removal that died, later than that could still be at work', async () => {
    const url = await upload()
    const { id } = await say(who, room, marker(url))
    const failing = vi.spyOn(files, 'remove').mockRejectedValueOnce(new AppError('TIMEOUT'))
    const { jobs } = node()
    const add = jobs.add.bind(jobs)
    const planning = vi.spyOn(jobs, 'add').mockImplementation((async (one: Job, ...rest: [object]) => {
      if (one.kind === removingFiles.kind) throw new AppError('DATABASE_ERROR')
      return add(one, ...rest)
    }) as never)
    await who.does('rest', messages.remove, { room, id })
    for (const spy of [failing, planning]) spy.mockRestore()
    expect(await isThere(url)).toBe(true)
    expect(await who.refused('rest', messages.send, { room, text: marker(url) })).toMatchObject({ status: 400 })
    await sweep()
    expect(await isThere(url)).toBe(true)
    passDays(0.1)
    await sweep()
    expect(await isThere(url)).toBe(false)
  })

  solo('is not waited for where the storage failed: a job tries again soon', heavy, async () => {
    const url = await upload()
    const { id } = await say(who, room, marker(url))
    const failing = vi.spyOn(files, 'remove')
    onTestFinished(() => failing.mockRestore())
    for (let time = 0; time < 2; time++) failing.mockRejectedValueOnce(new AppError('TIMEOUT'))
    await who.does('rest', messages.remove, { room, id })
    await expect.poll(() => isThere(url)).toBe(false)
    expect(failing).toHaveBeenCalledTimes(3)
    await expect.poll(() => UploadRecords.exists({ _id: keyOf(url) })).toBeNull()
  })

  solo('takes what was begun a day ago and never written to its end', async () => {
    const at = join(folder, '.unfinished', 'half')
    await writeFile(at, 'half')
    await utimes(at, node().now() / 1_000, node().now() / 1_000)
    const isLeft = async () => (await readdir(join(folder, '.unfinished'))).includes('half')
    passDays(0.9)
    await sweep()
    expect(await isLeft()).toBe(true)
    passDays(0.2)
    await sweep()
    expect(await isLeft()).toBe(false)
  })

  test('and an upload or a message of the same moment exclude each other', async () => {
    const given = file()
    const url = await upload(who, room.id, given)
    const named = [{ url, key: keyOf(url) }]
    const record = async () => {
      const found = await UploadRecords.findOne({ _id: keyOf(url) }).lean()
      if (!found) throw new Error('No record')
      return found
    }
    const before = await record()
    expect(await upload(who, room.id, given)).toBe(url)
    await removeFile(node(), before)
    expect(await isThere(url)).toBe(true)
    const then = await record()
    await withKeptFiles(node(), who.account, named, async (missing) => {
      expect(missing.size).toBe(0)
      await removeFile(node(), then)
      await removeUnnamedFiles(node(), [keyOf(url)])
      expect(await isThere(url)).toBe(true)
    })
    expect((await record()).claims).toEqual([])
    const claims = withKeptFiles(node(), who.account, named, () => Promise.reject(new AppError('SERVICE_UNAVAILABLE')))
    await expect(claims).rejects.toThrow()
    await removeUnnamedFiles(node(), [keyOf(url)])
    expect(await isThere(url)).toBe(true)
    passDays(2)
    await sweep()
    expect(await isThere(url)).toBe(false)
  })

  test('many removals and messages at a time leave no message without its file', async () => {
    for (let round = 0; round < 10; round++) {
      const url = await upload()
      const { id } = await say(who, room, marker(url))
      const [, sent] = await Promise.all([
        who.does('rest', messages.remove, { room, id }),
        who.tries('socket', messages.send, { room, text: marker(url) }),
      ])
      expect(await isThere(url)).toBe(sent.ok || (await UploadRecords.exists({ _id: keyOf(url) })) !== null)
    }
  })
})

describe('what an account stores on a day', () => {
  beforeAll(signIn)

  const today = async (owner: string) => {
    const rows = await UploadQuotas.find({}).lean()
    return rows.filter(({ _id }) => _id.startsWith(`${owner} `)).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  solo('counts the same file once, however often it comes at a time', async () => {
    const one = await person(server, 'once')
    room = await channelOf(one)
    const given = file()
    const urls = await Promise.all(Array.from({ length: 8 }, () => upload(one, room.id, given)))
    expect(new Set(urls).size).toBe(1)
    expect(await today(one.account)).toBe(1_000)
  })

  solo('does not count what could not be stored', async () => {
    const one = await person(server, 'failing')
    room = await channelOf(one)
    const given = file()
    const failing = vi.spyOn(files, 'put').mockRejectedValueOnce(new AppError('UPSTREAM_ERROR'))
    expect((await post(one, '/api/upload/image', { file: given, conversationId: room.id })).status).toBe(502)
    failing.mockRestore()
    expect(await today(one.account)).toBe(0)
    expect(await isThere(await upload(one, room.id, given))).toBe(true)
    expect(await today(one.account)).toBe(1_000)
  })
})
