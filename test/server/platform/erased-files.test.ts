// Modes: embedded
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { UploadRecords } from '#server/domains/media/files/model'
import { sweepFiles } from '#server/domains/media/uploads/store'
import { Reports } from '#server/domains/moderation/social/model'
import { buckets } from '#server/domains/moderation/verdict/storage-folders'
import { Accounts } from '#server/domains/people/accounts/model'
import { type ErasedAccount, newAlias, withAlias } from '#server/domains/platform/own-data/alias'
import { eraseRows } from '#server/domains/platform/own-data/erased-rows'
import { moveFiles } from '#server/domains/platform/own-data/erasing'
import { Erasures, type StoredErasure } from '#server/domains/platform/own-data/model'
import { RoomEvents } from '#server/log/model'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'
import { s3Storage } from '#server/ports/storage/s3'
import { api } from '#shared/api/index'
import { uploads } from '#shared/api/media/uploads'
import { ownData } from '#shared/api/platform/own-data'
import { messages } from '#shared/api/rooms/messages'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, groupOf, type Person, pathOf, people, person, say, sealed } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { openS3 } from '#test/support/s3'

const daySeconds = 86_400
const unended = new AbortController().signal

async function folderStore(): Promise<{ storage: Storage; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'plaza-erased-files-'))
  return { storage: await localStorage(folder), stop: () => rm(folder, { recursive: true, force: true }) }
}
async function s3Store(): Promise<{ storage: Storage; stop(): Promise<void> }> {
  const { stop, ...config } = await openS3(buckets)
  return { storage: s3Storage(config), stop }
}

let pictures = 0
/** Each has other pixels: what is about a picture is not stored. */
const picture = () => new Blob([new Uint8Array(pngOf({ width: 4 + (pictures++ % 60) }))])
const bytes = (size = 1_000) => new Blob([randomBytes(size)])

describe.each([
  ['a folder', folderStore],
  ['S3', s3Store],
] as const)('P26: files of an erased account, in %s', (_name, open) => {
  let store: Awaited<ReturnType<typeof open>>
  let server: Booted
  let [ada, bob] = [] as unknown as [Person, Person]
  let round = 0
  let ahead = 0
  const pass = (seconds: number) => {
    ahead += seconds
    server.setAhead(ahead)
  }
  const node = () => {
    const [app] = server.apps
    if (!app) throw new Error('No node')
    return app.node
  }
  beforeAll(async () => {
    store = await open()
    const environment = { ERASURE_GRACE_DAYS: '0' }
    server = await boot({ services: { storage: store.storage }, environment, entry: 'through the door' })
  })
  afterAll(async () => {
    await server.close()
    await store.stop()
  })
  const meet = async () => {
    round += 1
    ;[ada, bob] = await people(server, `has files ${round}`, `sees files ${round}`)
  }
  /** Bob, whose session ends within the days that pass here. */
  const again = async () => {
    bob = await person(server, `sees files ${round}`)
  }

  const post = async ({ token }: Person, path: string, fields: Record<string, string | Blob>) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.set(name, value)
    const init = { method: 'POST', headers: { authorization: `Bearer ${token}` }, body }
    const response = await fetch(`${server.url}${path}`, init)
    expect([path, response.status]).toEqual([path, 200])
    return (await response.json()) as { url: string; avatar_url: string; icon_url: string; evidence: string }
  }
  /** What is at an address: the hash of its bytes, or the status of a refusal. */
  const read = async (url: string) => {
    const response = await fetch(`${server.url}${new URL(url).pathname}`)
    const found = Buffer.from(await response.arrayBuffer())
    return response.status === 200 ? createHash('sha256').update(found).digest('hex') : response.status
  }
  const historyOf = async (room: RoomRef) => (await bob.does('rest', messages.history, { room })).messages
  const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 100 })
  async function erase(): Promise<void> {
    await ada.does('rest', ownData.erase, { messages: 'unlink', confirm: ada.account })
    const _id = (await Accounts.findOne({ _id: ada.account }).lean())?.erasure_id ?? ''
    const state = () => Erasures.findOne({ _id }).lean<StoredErasure>()
    await until(async () => expect((await state())?.forgotten_at).toBeTruthy())
    pass(120)
    await until(async () => expect((await state())?.finished_at).toBeTruthy())
  }
  const sweepInDays = async (days: number) => {
    pass(days * daySeconds)
    await sweepFiles(node(), unended)
  }
  const keysWith = async (word: string) => {
    const keys: string[] = []
    for (const bucket of buckets) for await (const { key } of store.storage.list(bucket)) keys.push(key)
    return keys.filter((key) => key.includes(word.toLowerCase()))
  }

  test('what messages and rooms show opens for others after the erasure and a sweep, and no address has the account', async () => {
    await meet()
    const group = await groupOf(bob, ada)
    const [photo, voice] = [
      (await post(ada, '/api/upload', { file: picture() })).url,
      (await post(ada, '/api/upload/voice', { file: bytes(), conversationId: group.id, duration: '3' })).url,
    ]
    const given = await post(ada, '/api/upload/file', { name: 'plan.pdf', file: bytes(300_000) })
    const { url: file, ...about } = uploads.file.output.parse(given)
    const { name, size, mime } = about
    const own = await channelOf(ada, bob)
    const icon = (await post(ada, `/api/channels/${own.id}/icon`, { file: picture() })).icon_url
    const avatar = (await post(ada, '/api/user/avatar', { file: picture() })).avatar_url
    const unshown = (await post(ada, '/api/upload', { file: picture() })).url
    const before = await Promise.all([photo, voice, file, icon].map(read))
    await say(ada, group, `[IMAGE]${photo}`)
    await say(ada, group, `[VOICE:3]${voice}`)
    await say(ada, group, name, { attachments: [{ url: file, name, size, mime }] })
    await say(bob, group, `Look again: ${photo}`)
    expect(new Set(before).size).toBe(4)

    await erase()
    const shownNow = async () => {
      const [first, second, third, fourth] = await historyOf(group)
      const { room } = await bob.does('rest', api.rooms.get, { room: own })
      const shown = [
        first?.content.replace('[IMAGE]', '') ?? '',
        second?.content.replace('[VOICE:3]', '') ?? '',
        third?.attachments[0]?.url ?? '',
        room.icon_url ?? '',
      ]
      expect(fourth?.content).toBe(`Look again: ${shown[0]}`)
      for (const url of shown) expect(url).toMatch(/\/deleted:[\da-f]{34}\//)
      return Promise.all(shown.map(read))
    }
    // Each node forgets within five seconds.
    await until(async () => expect(await shownNow()).toEqual(before))
    expect(await Promise.all([photo, voice, file, icon, avatar, unshown].map(read))).toEqual(Array(6).fill(404))
    expect(await keysWith(ada.account)).toEqual([])
    const records = await UploadRecords.find({}, { _id: 1 }).lean()
    expect(records.filter(({ _id }) => _id.includes(ada.account))).toEqual([])
    for (const days of [2, 2]) await sweepInDays(days)
    await again()
    expect(await shownNow()).toEqual(before)
    expect((await keysWith('/deleted:')).length).toBe(4)
  })

  test('what sealed messages of two name opens at its address, can be reported, and goes with the second of them', async () => {
    await meet()
    const dm = dmOf(ada.account, bob.account)
    const { url } = await post(ada, '/api/upload/image', { file: bytes(), conversationId: dm.id ?? '' })
    const { message } = await ada.does('rest', messages.send, { room: dm, text: sealed(), blobs: [pathOf(url)] })
    const handIn = () => post(bob, '/api/users/report/evidence', { file: picture(), messageId: message.id, url })
    const about = { reportedAddress: ada.account, reportType: 'harassment', messageId: message.id } as const
    const { report } = await bob.does('rest', api.social.report, { ...about, evidence: (await handIn()).evidence })
    const before = await read(url)
    const gone = ada
    const copies = await keysWith('/deleted:')
    await erase()
    await sweepInDays(2)
    await again()
    expect(await read(url)).toEqual(before)
    expect(await keysWith('/deleted:')).toEqual(copies)
    expect((await handIn()).evidence).toBeTruthy()
    const { rooms } = await bob.does('rest', api.inbox.list, { limit: 100 })
    const peer = rooms.find((room) => room.type === 'dm')?.peer
    expect(peer).toMatchObject({ id: gone.account, name: 'Deleted user' })

    ada = bob
    await erase()
    await sweepInDays(2)
    expect(await read(url)).toBe(404)
    const kept = await Reports.findOne({ _id: report.id }).lean()
    expect(JSON.stringify(kept)).not.toContain(ada.account)
    expect(kept?.evidence_key).toContain('/deleted:')
    expect(await keysWith(ada.account)).toEqual([])
    expect(await store.storage.sizeOf(kept?.evidence_key ?? '')).toBeGreaterThan(0)
  })

  test('a copy that was cut off is made again, and no further pass loses any', async () => {
    await meet()
    const group = await groupOf(bob, ada)
    const urls: string[] = []
    for (let count = 0; count < 3; count++) urls.push((await post(ada, '/api/upload', { file: picture() })).url)
    for (const url of urls) await say(ada, group, `[IMAGE]${url}`)
    await until(async () =>
      expect(await RoomEvents.countDocuments({ room: roomKey(group), 'body.media': { $exists: true } })).toBe(3),
    )
    const before = await Promise.all(urls.map(read))
    const erased: ErasedAccount = { account: ada.account, alias: newAlias(), messages: 'unlink' }
    const moved = urls.map((url) => withAlias(url, erased))
    const put = store.storage.put.bind(store.storage)
    let puts = 0
    const dying = vi.spyOn(store.storage, 'put').mockImplementation(async (key, blob) => {
      puts += 1
      if (puts === 2) throw new Error('dies')
      await put(key, blob)
    })
    await expect(moveFiles(node(), erased, unended, 'rows')).rejects.toThrow('dies')
    dying.mockRestore()
    expect(await Promise.all(urls.map(read))).toEqual(before)

    await moveFiles(node(), erased, unended, 'rows')
    expect(await Promise.all([...urls, ...moved].map(read))).toEqual([...before, ...before])
    await eraseRows([erased], unended)
    for (const left of ['rows', 'nothing', 'nothing'] as const) {
      await moveFiles(node(), erased, unended, left)
      await eraseRows([erased], unended)
      expect(await Promise.all(moved.map(read))).toEqual(before)
    }
    expect(await Promise.all(urls.map(read))).toEqual([404, 404, 404])
    await sweepInDays(2)
    expect(await Promise.all(moved.map(read))).toEqual(before)
    const records = await UploadRecords.find({ owner: erased.alias }).lean()
    expect(records.map(({ url }) => url).sort()).toEqual([...moved].sort())
  })
})
