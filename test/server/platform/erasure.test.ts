// Modes: embedded, two-nodes-redis
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ensurePlazaAccount } from '#server/domains/people/accounts/accounts'
import { Accounts } from '#server/domains/people/accounts/model'
import { Nodes } from '#server/domains/platform/cluster/model'
import { eraseRows } from '#server/domains/platform/own-data/erased-rows'
import { Erasures, type StoredErasure } from '#server/domains/platform/own-data/model'
import { sendClearMessage } from '#server/domains/rooms/messages/send'
import { AuditLines, declaredModels, StoredJobs } from '#server/kernel/store/model'
import { verifyChain } from '#server/log/index'
import { RoomEvents } from '#server/log/model'
import { chainedRows } from '#server/log/store'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'
import { api } from '#shared/api/index'
import { uploads } from '#shared/api/media/uploads'
import { accounts } from '#shared/api/people/accounts'
import { ownData } from '#shared/api/platform/own-data'
import { unreadChanged } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { capabilitiesChanged } from '#shared/api/rooms/rooms'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { type Booted, boot } from '#test/support/boot'
import { lettersTo } from '#test/support/letters'
import {
  befriend,
  channelOf,
  groupOf,
  listenTo,
  moderates,
  over,
  type Person,
  people,
  person,
  personAt,
  say,
  sealed,
} from '#test/support/people'
import { acrossNodes, solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const daySeconds = 86_400
const settledSeconds = 120

let folder: string
let storage: Storage
let server: Booted
let ada: Person
let bob: Person
let round = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-erasures-'))
  storage = await localStorage(folder)
  server = await boot({
    services: { storage },
    entry: 'through the door',
    environment: { ADMINS: wallet('erases others').address, BETA: 'open' },
  })
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  round += 1
  server.setAhead(0)
  ;[ada, bob] = await people(server, `is erased ${round}`, `stays ${round}`)
})

const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 60_000, interval: 100 })
const plan = (who: Person, more: object = {}) =>
  who.does('rest', ownData.erase, { messages: 'unlink', confirm: who.account, ...more })
/** The rooms whose records are still to be written by some node. In 60 s without a jump of the clock, all are. */
async function unrecordedOn({ apps }: Booted): Promise<string[]> {
  const rooms = await RoomEvents.distinct('room')
  return rooms.filter((key) => {
    const heads = apps.flatMap(({ node }) => node.log.headHere(key) ?? [])
    const last = Math.max(...heads.map(({ seq }) => seq))
    return heads.some(({ recorded }) => recorded < last)
  })
}

/** Waits for the erasure of an account, by the clock of its server, and then for the time in which all nodes forget it. */
async function erased(on: Booted, who: Person, beginsAfterDays: number): Promise<void> {
  const _id = (await Accounts.findOne({ _id: who.account }).lean())?.erasure_id ?? ''
  const state = () => Erasures.findOne({ _id }).lean<StoredErasure>()
  on.setAhead(beginsAfterDays * daySeconds + 1)
  await until(async () => expect((await state())?.forgotten_at).toBeTruthy())
  await until(async () => expect(await unrecordedOn(on)).toEqual([]))
  on.setAhead(beginsAfterDays * daySeconds + settledSeconds)
  await until(async () => expect((await state())?.finished_at).toBeTruthy())
  expect(await Accounts.exists({ _id: who.account })).toBeNull()
}
async function eraseNow(who: Person, more: object = {}): Promise<void> {
  await plan(who, more)
  await erased(server, who, 14)
}

const historyOf = async (who: Person, room: RoomRef) => (await who.does('rest', messages.history, { room })).messages

/** A signal that ends the work when it is looked at for the nth time. */
function endedAt(nth: number): AbortSignal {
  let looks = 0
  const { signal } = new AbortController()
  return Object.assign(signal, {
    throwIfAborted() {
      looks += 1
      if (looks === nth) throw new Error('ended')
    },
  })
}

/** Is it a row of a conversation of two, which keeps the addresses of both? */
const isDirect = ({ _id, room = _id }: { _id: unknown; room?: unknown }) => String(room).startsWith('dm:')
const directNames = /dm:\w+~\w+/g

/** Where the store has one of these words. What is kept is of the alias. */
async function placesOf(words: readonly string[]): Promise<string[]> {
  const places: string[] = []
  for (const { model } of declaredModels()) {
    for (const row of await model.collection.find({}).toArray()) {
      const sought = isDirect(row) ? words.filter((word) => !word.startsWith('0x')) : words
      const text = JSON.stringify(row).replaceAll(directNames, '').toLowerCase()
      const found = sought.filter((word) => text.includes(word.toLowerCase()))
      if (found.length > 0) places.push(`${model.modelName}: ${found.join(', ')}: ${JSON.stringify(row)}`)
    }
  }
  return places
}

describe('P26: the time in which a deletion can be taken back', () => {
  test.each(over)('begins over %s with the end of all sessions, and nobody finds the account', async (door) => {
    await ada.does('rest', accounts.claimUsername, { username: `leaves_${door}_${round}` })
    await ada.does('rest', accounts.updateProfile, { public_landing_enabled: true })
    const room = await channelOf(ada, bob)
    await say(ada, room, 'stays for now')
    const counted = await ada.does(door, ownData.readErasure, {})
    expect(counted).toMatchObject({ erased_at: null, kept_at: null, grace_days: 14, counts: { rooms: 1, agents: 0 } })
    const { erased_at } = await ada.does(door, ownData.erase, {
      messages: 'erase',
      confirm: `@leaves_${door}_${round}`,
    })
    expect(Date.parse(erased_at) - Date.now()).toBeGreaterThan(13.9 * daySeconds * 1_000)
    expect((await ada.rest('GET /api/account/erasure')).status).toBe(401)
    expect((await call(ada.url, 'POST /api/auth/session', { refreshToken: ada.refreshToken })).status).toBe(401)
    expect((await bob.rest(`GET /api/public/user/${ada.account}`)).status).toBe(404)
    expect((await bob.refused('rest', accounts.resolveUsername, { username: `leaves_${door}_${round}` })).status).toBe(
      404,
    )
    expect(await historyOf(bob, room)).toMatchObject([{ content: 'stays for now', sender_address: ada.account }])
  })

  test('ends with a sign-in, which keeps all', async () => {
    const room = await channelOf(ada, bob)
    await say(ada, room, 'is kept')
    await plan(ada, { messages: 'erase' })
    server.setAhead(13 * daySeconds)
    const again = await person(server, `is erased ${round}`)
    const state = await again.does('rest', ownData.readErasure, {})
    expect(state).toMatchObject({ erased_at: null, counts: { rooms: 1 } })
    expect(state.kept_at).not.toBeNull()
    expect(await again.does('rest', ownData.restore, {})).toEqual({ erased_at: null, kept_at: state.kept_at })
    server.setAhead(15 * daySeconds)
    await until(async () => expect(await noErasureIsDue()).toBe(true))
    const later = await person(server, `is erased ${round}`)
    expect(await historyOf(later, room)).toMatchObject([{ content: 'is kept' }])
  })

  test('is told by a letter at its beginning and two days before its end', async () => {
    const email = `erased-${round}@example.test`
    await Accounts.updateOne({ _id: ada.account }, { $set: { email, email_verified: true } })
    const { erased_at } = await plan(ada)
    const subjects = async () =>
      (await lettersTo(server, email)).map(({ subject, text }) => [
        subject,
        text.includes(new Date(erased_at).toUTCString()),
      ])
    await until(async () => expect(await subjects()).toEqual([['Your account will be deleted', true]]))
    server.setAhead(12 * daySeconds + 60)
    await until(async () => expect(await subjects()).toContainEqual(['Your account will soon be deleted', true]))
  })

  test('needs the name or the address of the account, and a fresh sign-in', async () => {
    const wrong = await ada.refused('rest', ownData.erase, { messages: 'erase', confirm: bob.account })
    expect(wrong).toMatchObject({ code: 'VALIDATION_ERROR', details: { path: 'confirm' } })
    expect((await ada.refused('rest', ownData.erase, { messages: 'erase', confirm: '' })).code).toBe('VALIDATION_ERROR')
    server.setAhead(301)
    for (const door of over) {
      const stale = await ada.refused(door, ownData.erase, { messages: 'erase', confirm: ada.account })
      expect(stale.code).toBe('REAUTHENTICATION_REQUIRED')
    }
    expect((await ada.does('rest', ownData.readErasure, {})).erased_at).toBeNull()
  })
})

/** No erasure is due any more. */
async function noErasureIsDue(): Promise<boolean> {
  const due_at = { $lte: new Date(Date.now() + 15 * daySeconds * 1_000) }
  return (await StoredJobs.countDocuments({ state: 'open', kind: 'own-data.erase', due_at })) === 0
}

describe('P26: what is erased', () => {
  test('messages stay without their person, in the same order, and the moderation log verifies', async () => {
    const room = await channelOf(bob, ada)
    await ada.does('rest', accounts.updateProfile, { display_name: `Ada Erased ${round}` })
    await moderates(bob, { action: 'promote', target: ada.account, room })
    await say(ada, room, 'one')
    const asked = await say(bob, room, `two @${ada.account}`)
    await bob.does('rest', messages.pin, { room, id: asked.id, pinned: true })
    await say(ada, room, 'three', { reply_to: asked.id })
    const before = await historyOf(bob, room)
    await eraseNow(ada)
    const again = await person(server, `stays ${round}`)
    const after = await historyOf(again, room)
    expect(after.map(({ id, seq, content }) => [id, seq, content.slice(0, 3)])).toEqual(
      before.map(({ id, seq, content }) => [id, seq, content.slice(0, 3)]),
    )
    const [one, , three] = after
    expect(one?.sender).toMatchObject({ name: 'Deleted user' })
    expect(one?.sender_address).toMatch(/^deleted:[\da-f]{34}$/)
    expect(three?.sender_address).toBe(one?.sender_address)
    const rows = await chainedRows(roomKey(room), {}, 100, 1)
    expect(rows.length).toBeGreaterThan(1)
    expect(verifyChain(rows, '')).toBeNull()
    const touched = rows.find(({ erased }) => erased !== undefined)
    expect(touched && verifyChain([{ ...touched, reason: 'another' }], '')).not.toBeNull()
    expect(await placesOf([ada.account, `Ada Erased ${round}`])).toEqual([])
  })

  test('messages are removed where the person wants that, with what others quote of them', async () => {
    const [room, group] = [await channelOf(bob, ada), await groupOf(bob, ada)]
    const first = await say(ada, room, `secret word ${round}`)
    await say(ada, group, `secret word ${round}`)
    await say(bob, room, 'an answer', { reply_to: first.id })
    await eraseNow(ada, { messages: 'erase' })
    const again = await person(server, `stays ${round}`)
    expect(await historyOf(again, room)).toMatchObject([
      { is_deleted: true, sender: { name: 'Deleted user' } },
      { content: 'an answer', reply_to: null },
    ])
    expect(JSON.stringify(await RoomEvents.find({}).lean())).not.toContain(`secret word ${round}`)
    expect(await placesOf([ada.account, `secret word ${round}`])).toEqual([])
  })

  test('files go with the messages that name them', async () => {
    const group = await groupOf(bob, ada)
    const form = new FormData()
    form.set('name', 'plan.pdf')
    form.set('file', new Blob(['%PDF-1.7']))
    const init = { method: 'POST', body: form, headers: { Authorization: `Bearer ${ada.token}` } }
    const sent = await fetch(`${ada.url}/api/upload/file`, init)
    const { url, name, size, mime } = uploads.file.output.parse(await sent.json())
    await say(ada, group, name, { attachments: [{ url, name, size, mime }] })
    const stored = () => fetch(`${server.url}${new URL(url).pathname}`)
    expect((await stored()).status).toBe(200)
    await eraseNow(ada, { messages: 'erase' })
    expect((await stored()).status).toBe(404)
    const again = await person(server, `stays ${round}`)
    expect(await historyOf(again, group)).toMatchObject([{ is_deleted: true, attachments: [] }])
    expect(await placesOf([ada.account])).toEqual([])
  })

  test('lists on any node no longer show the person as the last to write in a room', async () => {
    const room = await channelOf(bob, ada)
    await ada.does('rest', accounts.updateProfile, { display_name: `Ada Listed ${round}` })
    await say(ada, room, 'last words')
    // Without a membership the erasure makes no event there, which would have the lists read anew.
    await ada.does('rest', api.rooms.leave, { room })
    const readers = () => Promise.all(server.urls.map((url) => personAt(url, `stays ${round}`)))
    const lastFor = async (reader: Person) => {
      const { rooms } = await reader.does('rest', api.inbox.list, { limit: 100 })
      return rooms.find(({ id }) => id === room.id)?.last_message
    }
    for (const reader of await readers())
      expect(await lastFor(reader)).toMatchObject({ sender_address: ada.account, sender_name: `Ada Listed ${round}` })
    await eraseNow(ada)
    const sender_address = expect.stringMatching(/^deleted:/)
    for (const reader of await readers())
      await until(async () =>
        expect(await lastFor(reader)).toMatchObject({
          sender_address,
          sender_name: 'Deleted user',
          preview: 'last words',
        }),
      )
  })

  test('rooms go to those who follow, and are archived where nobody does', async () => {
    const [shared, alone] = [await channelOf(ada, bob), await channelOf(ada)]
    await eraseNow(ada)
    const again = await person(server, `stays ${round}`)
    const shown = await again.does('rest', api.rooms.get, { room: shared })
    expect(shown.room).toMatchObject({ owner_address: bob.account, is_active: true })
    // Each node forgets within ten seconds.
    await until(async () => {
      const { room } = await again.does('rest', api.rooms.get, { room: alone })
      expect(room).toMatchObject({ is_active: false, owner_address: expect.stringMatching(/^deleted:/) })
    })
  })

  test('a group stays open for the others when its maker is deleted, also one that the maker had left', async () => {
    const [inside, left] = [await groupOf(ada, bob), await groupOf(ada, bob)]
    await ada.does('rest', api.rooms.leave, { room: left })
    await eraseNow(ada)
    const again = await person(server, `stays ${round}`)
    await until(async () => {
      for (const room of [inside, left]) {
        const { room: shown } = await again.does('rest', api.rooms.get, { room })
        expect(shown).toMatchObject({ is_active: true, owner_address: expect.stringMatching(/^deleted:/) })
      }
    })
    for (const room of [inside, left]) await say(again, room, 'we go on')
  })

  solo('a room goes to who can follow at the deletion, whoever could when it was asked for', async () => {
    const admin = await person(server, 'erases others')
    const [leaves, banned, suspended, going] = await people(
      server,
      `leaves ${round}`,
      `is banned ${round}`,
      `is suspended ${round}`,
      `goes as well ${round}`,
    )
    const room = await channelOf(ada, leaves, banned, suspended, going, bob)
    await moderates(ada, { action: 'promote', target: leaves.account, room })
    await plan(ada)
    await moderates(leaves, { action: 'ban', target: banned.account, room })
    await leaves.does('rest', api.rooms.leave, { room })
    await admin.does('rest', accounts.suspend, { userAddress: suspended.account, ban: true })
    server.setAhead(5 * daySeconds)
    await plan(await person(server, `goes as well ${round}`))
    await erased(server, ada, 14)
    const again = await person(server, `stays ${round}`)
    const { room: shown } = await again.does('rest', api.rooms.get, { room })
    expect(shown).toMatchObject({ owner_address: bob.account, is_active: true })
  })

  test('nobody writes to it in a conversation that goes on, until its wallet signs in anew', async () => {
    await befriend(ada, bob)
    const room = dmOf(ada.account, bob.account)
    const draft = { room, text: sealed() }
    await say(ada, room, sealed())
    await plan(ada)
    await say(bob, room, sealed())
    await erased(server, ada, 14)
    const later = await person(server, `stays ${round}`)
    for (const door of over)
      for (const operation of [messages.send, messages.check])
        expect(await later.refused(door, operation, draft)).toMatchObject({ code: 'USER_NOT_FOUND', status: 404 })
    const direct = { recipientAddress: ada.account, encryptedContent: sealed() }
    expect(await later.refused('rest', messages.directSend, direct)).toMatchObject({
      code: 'USER_NOT_FOUND',
      status: 404,
    })
    const line = await later.line()
    const textNow = async () => (await later.does(line, messages.join, { room })).me.capabilities.text
    expect(await textNow()).toEqual({ ok: false, code: 'USER_NOT_FOUND' })
    await person(server, `is erased ${round}`)
    expect(await textNow()).toEqual({ ok: true, code: null })
    for (const door of over) await later.does(door, messages.send, { room, text: sealed() })
  })

  test('nothing is found of an account that used many domains, but for what is kept', async () => {
    const name = `Zuzana Erasable ${round}`
    const username = `zuzana_${round}`
    const email = `zuzana-${round}@example.test`
    await ada.does('rest', accounts.updateProfile, { display_name: name, bio: `I am ${name}` })
    await ada.does('rest', accounts.claimUsername, { username })
    await Accounts.updateOne({ _id: ada.account }, { $set: { email, email_verified: true } })
    const [own, theirs, group] = [await channelOf(ada, bob), await channelOf(bob, ada), await groupOf(ada, bob)]
    await befriend(ada, bob)
    await say(ada, dmOf(ada.account, bob.account), sealed())
    const mine = await say(ada, theirs, 'mine')
    const other = await say(bob, theirs, `hello @${username}`, {
      mentions: [{ kind: 'user', id: ada.account, start: 6, len: username.length + 1 }],
    })
    await say(bob, group, 'answer', {})
    const node = server.apps[0]?.node ?? expect.fail()
    const plaza = await ensurePlazaAccount(node.now())
    await sendClearMessage(node, plaza, ada.account, { type: 'welcome', text: 'Welcome', cid: 'welcome' })
    for (const [who, id] of [
      [ada, other.id],
      [bob, mine.id],
    ] as const)
      await who.does('rest', messages.react, { room: theirs, id, emoji: '👍' })
    await ada.does('rest', messages.edit, { room: theirs, id: mine.id, text: 'mine, edited' })
    const { poll } = await ada.does('rest', api.polls.create, { room: own, question: 'Which?', options: ['a', 'b'] })
    await bob.does('rest', api.polls.vote, { room: own, pollId: poll.id, optionIndex: 1 })
    await moderates(ada, { action: 'mute', target: bob.account, room: own, duration: '1h', reason: 'too loud' })
    await moderates(ada, { action: 'word_add', room: own, patch: { word: 'rhubarb', word_action: 'block' } })
    await moderates(bob, { action: 'warn', target: ada.account, room: theirs, reason: 'no' })
    await ada.does('rest', api.stars.add, { messageId: other.id, messageType: 'channel', channelId: theirs.id })
    const { folder: chats } = await bob.does('rest', api.chatFolders.create, { label: 'Friends' })
    await bob.does('rest', api.chatFolders.setChats, { id: chats.id, chats: [dmOf(ada.account, bob.account)] } as never)
    await bob.does('rest', api.social.mute, { conversationType: 'dm', conversationId: ada.account })
    await bob.does('rest', api.contactNotes.write, { targetAddress: ada.account, notes: 'a note' })
    await ada.does('rest', api.contactNotes.write, { targetAddress: bob.account, notes: 'a note' })
    await ada.does('rest', api.agents.create, { name: `Agent of ${round}` })
    await ada.does('rest', api.invites.list, {})
    await ada.does('rest', api.bugReports.send, { category: 'Chats', description: 'It jumps.' })
    await ada.does('rest', api.social.report, { reportedAddress: bob.account, reportType: 'spam' })
    await bob.does('rest', api.social.report, { reportedAddress: ada.account, reportType: 'spam' })
    await ada.does('rest', api.calls.start, { calleeAddress: bob.account, callType: 'audio', status: 'missed' })
    await ada.does('rest', ownData.beginExport, {})
    await until(async () => expect((await ada.does('rest', ownData.readExport, {})).export?.state).toBe('ready'))
    expect((await placesOf([ada.account])).length).toBeGreaterThan(20)

    await eraseNow(ada)
    expect(await placesOf([ada.account, name, email])).toEqual([])
    const receipt = await AuditLines.findOne({ operation: 'ownData.erased' }).sort({ at: -1 }).lean()
    expect(receipt).toMatchObject({ outcome: 'ok', counts: { RoomEvents: expect.any(Number), Stars: 1 } })
    const again = await person(server, `stays ${round}`)
    expect(await again.does('rest', accounts.checkUsername, { username })).toMatchObject({ available: false })
  })

  test('every declared share of every model is carried out, however often the work is ended and begun anew', async () => {
    const erased = {
      account: '0x00000000000000000000000000000000000e4a5e',
      alias: 'deleted:00',
      messages: 'unlink' as const,
    }
    const made: { model: (typeof shares)[number]['model']; id: string; share: string }[] = []
    const shares = declaredModels().flatMap(({ model, own }) =>
      own && own !== "nobody's" ? own.shares.map((share, at) => ({ model, share, at })) : [],
    )
    for (const { model, share, at } of shares) {
      const isElsewhere = ['Accounts', 'RoomEvents'].includes(model.modelName)
      if (share.owner === null || share.through || isElsewhere) continue
      const firstWords = [`${erased.account} x`, erased.account]
      const values = share.at === 'first word' ? firstWords : [share.at ? `x ${erased.account}` : erased.account]
      for (const value of values) {
        const id = share.owner === '_id' ? value : `planted ${at}`
        const [top = '', below] = share.owner.split('.')
        const isList = model.schema.path(share.owner)?.instance === 'Array'
        const stored = isList ? [value] : value
        const row = { _id: id, ...(top === '_id' ? {} : { [top]: below ? { [below]: stored } : stored }) }
        const unique = model.schema
          .indexes()
          .filter(([, options]) => options.unique && !options.partialFilterExpression)
        const filled = unique.flatMap(([fields]) => Object.keys(fields).map((field) => [field, `planted ${at}`]))
        await model.collection.insertOne({ ...Object.fromEntries(filled), ...row } as never)
        made.push({ model, id, share: share.owner })
      }
    }
    for (const at of [5, 60, 110]) await expect(eraseRows([erased], endedAt(at))).rejects.toThrow('ended')
    await eraseRows([erased], new AbortController().signal)
    expect(await eraseRows([erased], new AbortController().signal)).toEqual([{}])
    const left = await Promise.all(
      made.map(async ({ model, share }) => {
        const rows = await model.collection.find({}).toArray()
        return rows.some((row) => JSON.stringify(row).includes(erased.account)) ? [`${model.modelName}.${share}`] : []
      }),
    )
    expect(left.flat()).toEqual([])
    for (const { model } of made) {
      const ids = (await model.collection.find({}).toArray()).map(({ _id }) => String(_id))
      const planted = ids.filter((id) => /^(planted|x deleted|deleted:00)/.test(id))
      await model.collection.deleteMany({ _id: { $in: planted } } as never)
    }
  })
})

solo('P26: accounts that are due at once are erased together, so that many read the log as often as one', async () => {
  const room = await channelOf(bob)
  const find = vi.spyOn(RoomEvents.collection, 'find')
  /** A reading of the log begins without a filter. */
  const readings = () => find.mock.calls.filter(([filter]) => Object.keys(filter ?? {}).length === 0).length
  const readFor = async (...names: string[]) => {
    server.setAhead(0)
    const going = await people(server, ...names.map((name) => `${name} ${round}`))
    for (const [at, who] of going.entries()) {
      await who.does('rest', api.rooms.join, { room })
      await say(who, room, `\n${who.account}\n and ${going[0]?.account}, of ${names[at]}`)
      await plan(who, { messages: at % 2 === 0 ? 'unlink' : 'erase' })
    }
    find.mockClear()
    await Promise.all(going.map((who) => erased(server, who, 14)))
    const count = readings()
    expect(await placesOf(going.map(({ account }) => account))).toEqual([])
    return count
  }
  // One reading changes rows, and one proves that nothing is left.
  expect(await readFor('goes alone')).toBe(2)
  expect(await readFor('goes 1', 'goes 2', 'goes 3', 'goes 4', 'goes 5')).toBe(2)
  find.mockRestore()
})

test('P26: the public addresses of an agent answer 410 over both doors once its owner is erased', async () => {
  let names = 0
  const made = async (visibility: 'public' | 'private') =>
    (await ada.does('rest', api.agents.create, { name: `The ${names++}th one ${round}`, visibility })).agent.id
  const [open, hidden, removed] = [await made('public'), await made('private'), await made('public')]
  await ada.does('rest', api.agents.remove, { id: removed })
  await eraseNow(ada)
  const again = await person(server, `stays ${round}`)
  const sessionId = crypto.randomUUID()
  for (const door of over) {
    const codesOf = async (id: string) => {
      const question = { id, sessionId, message: 'Are you there?' }
      const refusals = [
        await again.refused(door, api.payments.agent, { id }),
        await again.refused(door, api.payments.info, { id }),
        await again.refused(door, api.payments.history, { id, sessionId }),
        await again.refused(door, api.payments.chat, question),
        await again.refused(door, api.payments.chatStream, question),
        await again.refused(door, api.agents.events, { id }),
      ]
      return [...new Set(refusals.map(({ code, status }) => `${code} ${status}`))]
    }
    expect(await codesOf(open)).toEqual(['AGENT_GONE 410'])
    expect(await codesOf(hidden)).toEqual(['AGENT_NOT_FOUND 404'])
    expect(await codesOf(removed)).toEqual(['AGENT_NOT_FOUND 404'])
  }
  // Without a built page there is none at any of these addresses.
  const pageAt = async (id: string) => (await fetch(`${again.url}/agents/${id}`)).status
  const usual = await pageAt('none')
  expect([await pageAt(open), await pageAt(hidden)]).toEqual([usual === 200 ? 410 : 404, usual])
})

test.each(over)('P26: an admin erases an account at once over %s, with a reason in the audit log', async (door) => {
  const admin = await person(server, 'erases others')
  const begun = await admin.does(door, ownData.exportUser, { address: ada.account })
  expect(begun.export).toMatchObject({ state: 'working', include_media: false })
  expect((await ada.does('rest', ownData.readExport, {})).export?.id).toBe(begun.export.id)
  const exported = { operation: 'ownData.exportUser', actor: admin.account, outcome: 'ok', target: ada.account }
  await until(async () => expect(await AuditLines.exists(exported)).not.toBeNull())
  const reason = `Asked by letter ${door} ${round}`
  await admin.does(door, ownData.eraseUser, { address: ada.account, reason })
  expect((await ada.rest('GET /api/account/erasure')).status).toBe(401)
  await erased(server, ada, 0)
  const noted = await AuditLines.findOne({ reason }).lean()
  expect(noted).toMatchObject({ actor: admin.account, target: expect.stringMatching(/^deleted:/) })
  const receipt = { operation: 'ownData.erased', request_id: noted?.request_id ?? '' }
  expect(await AuditLines.findOne(receipt).lean()).toMatchObject({ actor: noted?.target })
  const acts = await AuditLines.find({ target: noted?.target ?? '', outcome: 'ok' }).lean()
  expect(acts.map(({ operation, actor }) => [operation, actor]).sort()).toEqual([
    ['ownData.eraseUser', admin.account],
    ['ownData.exportUser', admin.account],
  ])
  expect(await placesOf([ada.account])).toEqual([])
})

acrossNodes('P26: an erasure ends once every node has forgotten the account', async () => {
  const [first, other] = server.apps
  if (!first || !other) throw new Error('There are not two nodes')
  await plan(ada)
  const _id = (await Accounts.findOne({ _id: ada.account }).lean())?.erasure_id ?? ''
  const state = () => Erasures.findOne({ _id }).lean<StoredErasure>()
  const looked = async () => {
    const due_at = { $gt: new Date(((await state())?.forgotten_at?.getTime() ?? 0) + 61_000) }
    return StoredJobs.exists({ _id: `erasure-settled ${_id}`, run: null, due_at })
  }
  const busy = vi.spyOn(other.node.log, 'replaceInMemory').mockImplementation(() => {
    throw new Error('busy')
  })
  const graceSeconds = 14 * daySeconds + 1
  server.setAhead(graceSeconds)
  await until(async () => expect((await state())?.forgotten_on).toEqual([first.node.id]))
  for (const seconds of [25, 50, 75]) {
    server.setAhead(graceSeconds + seconds)
    const seen_at = { $gt: new Date(first.node.now() - 5_000) }
    await until(async () => expect(await Nodes.countDocuments({ seen_at })).toBe(2))
  }
  await until(async () => expect(await looked()).not.toBeNull())
  expect(await state()).toMatchObject({ forgotten_on: [first.node.id], finished_at: null })
  expect(await Accounts.exists({ _id: ada.account })).not.toBeNull()
  busy.mockRestore()
  await until(async () => expect((await state())?.finished_at).toBeTruthy())
  expect(await Accounts.exists({ _id: ada.account })).toBeNull()
})

test('P26: an account is erased at once where there is no time to take it back, and a new one can be made', async () => {
  // A process has one connection to MongoDB, so the other server ends first. This test is the last one.
  await server.close()
  server = await boot({ environment: { ERASURE_GRACE_DAYS: '0' }, entry: 'through the door' })
  const [who, other, absent] = await people(server, 'goes at once', 'looks on', 'looks elsewhere')
  const room = await channelOf(other, who)
  await say(who, room, 'bye')
  await befriend(who, other)
  const direct = dmOf(who.account, other.account)
  await say(who, direct, sealed())
  const line = await listenTo(other, direct)
  const unopened = dmOf(who.account, absent.account)
  const [elsewhere, notices] = [await absent.line(), await absent.line('/notifications')]
  await say(who, unopened, sealed())
  await notices.hears(unreadChanged, ({ room: { id } }) => id === unopened.id)
  await who.does('rest', ownData.erase, { messages: 'unlink', confirm: who.account })
  await erased(server, who, 0)
  const told = await line.hears(capabilitiesChanged, ({ capabilities }) => capabilities.text?.ok === false)
  expect(told).toMatchObject({ room: direct, capabilities: { text: { code: 'USER_NOT_FOUND' } } })
  await elsewhere.hears(capabilitiesChanged, ({ room, capabilities }) => {
    return room.id === unopened.id && capabilities.text?.code === 'USER_NOT_FOUND'
  })
  // Each node forgets within ten seconds.
  await until(async () =>
    expect(await historyOf(other, room)).toMatchObject([{ content: 'bye', sender: { name: 'Deleted user' } }]),
  )
  const anew = await person(server, 'goes at once')
  expect(await anew.does('rest', ownData.readErasure, {})).toMatchObject({
    erased_at: null,
    kept_at: null,
    counts: { rooms: 0 },
  })
})
