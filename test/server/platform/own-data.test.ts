// Modes: embedded, two-nodes-redis
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { sweepFiles } from '#server/domains/media/uploads/store'
import { Accounts } from '#server/domains/people/accounts/model'
import { archiveSpool, removeArchive } from '#server/domains/platform/own-data/export-jobs'
import { DataExports } from '#server/domains/platform/own-data/model'
import { Votes, Words } from '#server/domains/rooms/room-state/model'
import { declaredModels } from '#server/kernel/store/model'
import { fakePush } from '#server/ports/push/fake'
import { localStorage } from '#server/ports/storage/local'
import { archiveFolder, type Storage } from '#server/ports/storage/port'
import { api } from '#shared/api/index'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { contactNotes } from '#shared/api/people/contact-notes'
import { archiveDays, dataExportChanged, ownData } from '#shared/api/platform/own-data'
import { push } from '#shared/api/platform/push'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { stars } from '#shared/api/rooms/stars'
import { AppError } from '#shared/errors'
import { dmOf } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { lettersTo } from '#test/support/letters'
import {
  befriend,
  channelOf,
  groupOf,
  moderates,
  over,
  type Person,
  people,
  person,
  say,
  sealed,
} from '#test/support/people'
import { pushBrowser } from '#test/support/push-browser'
import { call } from '#test/support/wallet'
import { unzip } from '#test/support/zip'

const pushService = fakePush()
let folder: string
let storage: Storage
let server: Booted
let ada: Person
let bob: Person
let round = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-archives-'))
  storage = await localStorage(folder)
  server = await boot({ services: { storage, push: pushService } })
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  round += 1
  server.setAhead(0)
  ;[ada, bob] = await people(server, `takes her data ${round}`, `writes to her ${round}`)
})

const endpointOf = (who: Person) => `https://push.test/${who.account}`
const noticesOf = (who: Person) =>
  pushService.sent
    .filter(({ endpoint }) => endpoint === endpointOf(who))
    .map(({ message }) => JSON.parse(message.text) as Record<string, unknown>)
const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 20_000, interval: 50 })
const exportOf = (who: Person) => who.does('rest', ownData.readExport, {})
const ready = (who: Person) =>
  until(async () => {
    const found = await exportOf(who)
    expect(found.export?.state).toBe('ready')
    return found
  })
/** Where the download is, on the node of this person. */
const at = (who: Person, url: string) => `${who.url}${new URL(url).pathname}`
async function archiveOf(who: Person, input = {}) {
  await who.does('rest', ownData.beginExport, input)
  const { url } = await ready(who)
  const response = await fetch(at(who, url ?? ''))
  expect(response.status).toBe(200)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { response, bytes, files: unzip(bytes) }
}
const rowsOf = (files: ReadonlyMap<string, Buffer>, domain: string, collection: string) =>
  JSON.parse(String(files.get(`data/${domain}.json`)))[collection]
const conversationsIn = (files: ReadonlyMap<string, Buffer>) =>
  [...files]
    .filter(([name]) => /^messages\/.*\.json$/.test(name))
    .map(([name, bytes]) => ({ name, ...JSON.parse(String(bytes)) }))

describe('P25: the archive of an account', () => {
  test('has what the account has here, by domain, and each part as its manifest says', async () => {
    await ada.does('rest', accounts.updateProfile, { display_name: 'Ada <b>Lovelace</b>', bio: 'Counts & computes' })
    const room = await channelOf(ada)
    const { message } = await ada.does('rest', messages.send, { room, text: 'Hello <script>alert(1)</script>' })
    await ada.does('rest', stars.add, { messageId: message.id, messageType: 'channel', channelId: room.id })
    await ada.does('rest', social.block, { userAddress: bob.account })
    const { files, response } = await archiveOf(ada)
    expect(response.headers.get('content-type')).toBe('application/zip')
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="plaza-\d{4}-\d\d-\d\d\.zip"$/)
    expect(rowsOf(files, 'accounts', 'accounts')).toMatchObject([{ _id: ada.account, bio: 'Counts & computes' }])
    expect(rowsOf(files, 'stars', 'stars')).toMatchObject([{ message_id: message.id }])
    expect(rowsOf(files, 'social', 'blocks')).toMatchObject([{ blocked_address: bob.account }])
    expect(rowsOf(files, 'sessions', 'sessions')).toHaveLength(1)
    expect(conversationsIn(files)).toMatchObject([{ room: { type: 'channel' }, messages: [{ id: message.id }] }])
    const manifest = JSON.parse(String(files.get('manifest.json'))) as {
      files: { path: string; sha256: string; bytes: number }[]
    }
    expect(manifest.files.map(({ path }) => path).sort()).toEqual(
      [...files.keys()].filter((name) => name !== 'manifest.json').sort(),
    )
    for (const { path, sha256, bytes } of manifest.files) {
      const file = files.get(path) ?? Buffer.alloc(0)
      expect([path, file.byteLength, createHash('sha256').update(file).digest('hex')]).toEqual([path, bytes, sha256])
    }
  })

  test('is read as pages, in which nothing that anybody wrote can run', async () => {
    const evil = (what: string) => `<img src=x onerror=alert('${what}')>"'><script>alert(1)</script>`
    await ada.does('rest', accounts.updateProfile, { display_name: '<img src=x onerror=alert(1)>', bio: evil('bio') })
    await bob.does('rest', accounts.updateProfile, { display_name: '<b onclick=alert(2)>Bob</b>' })
    await befriend(ada, bob)
    await say(bob, dmOf(ada.account, bob.account), sealed())
    const room = await channelOf(ada, bob)
    await ada.does('rest', api.rooms.update, { room, name: `<svg onload=alert(3)> ${round}` })
    await say(ada, room, evil('text'))
    await ada.does('rest', contactNotes.write, { targetAddress: bob.account, notes: evil('note') })
    await moderates(ada, { room, target: bob.account, action: 'warn', reason: evil('reason') })
    await moderates(ada, { action: 'word_add', room, patch: { word: '<i>turnip', word_action: 'flag' } })
    const { poll } = await ada.does('rest', polls.create, { room, question: evil('which?'), options: [evil('a'), 'b'] })
    await ada.does('rest', polls.vote, { room, pollId: poll.id, optionIndex: 0 })
    const { files } = await archiveOf(ada)
    const pages = [...files].filter(([name]) => name.endsWith('.html')).map(([, bytes]) => String(bytes))
    expect(pages.length).toBeGreaterThan(2)
    for (const page of pages) {
      expect(page).toContain("default-src 'none'")
      expect(page).not.toMatch(/<(script|svg|b|i)\b(?!>Encrypted)|<img src=x|<[^>]*\son\w+=/)
      expect(page.match(/<meta charset="utf-8">/g)).toHaveLength(1)
    }
    const all = pages.join('')
    for (const what of ['bio', 'text', 'note', 'reason', 'which?', 'a'])
      expect(all).toContain(`&lt;img src=x onerror=alert(&#39;${what}&#39;)&gt;&quot;&#39;&gt;&lt;script&gt;`)
    expect(all).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(all).toContain('&lt;b onclick=alert(2)&gt;Bob&lt;/b&gt;')
    expect(all).toContain('<h1 dir="auto">&lt;svg onload=alert(3)&gt;')
  })

  test('shows what only looks like a time as it was written', async () => {
    const bio = '2026-99-99T99:99:99Z'
    await ada.does('rest', accounts.updateProfile, { bio })
    const { files } = await archiveOf(ada)
    expect(String(files.get('data/accounts.html'))).toContain(bio)
  })

  test('has what it has answered in polls of others, while it can read them', async () => {
    const [open, left] = [await channelOf(bob, ada), await groupOf(bob, ada)]
    for (const room of [open, left]) {
      const question = `Which of ${room.type}?`
      const ask = async () => bob.does('rest', polls.create, { room, question, options: ['tea', 'milk', 'none'] })
      const [{ poll }, { poll: gone, message }] = [await ask(), await ask()]
      await ada.does('rest', polls.vote, { room, pollId: poll.id, optionIndex: 1 })
      await ada.does('rest', polls.vote, { room, pollId: gone.id, optionIndex: 1 })
      await bob.does('rest', messages.remove, { room, id: message.id })
    }
    await ada.does('rest', api.rooms.leave, { room: left })
    await until(async () => expect(await Votes.countDocuments({ user_address: ada.account })).toBe(4))
    const { files } = await archiveOf(ada)
    expect(rowsOf(files, 'polls', 'answers')).toMatchObject([{ question: 'Which of channel?', answers: ['milk'] }])
    expect(String(files.get('data/polls.html'))).toContain('milk')
  })

  test('has the answers of polls, its own acts with reasons, warnings, blocked words and links of invitation', async () => {
    const [own, theirs] = [await channelOf(ada, bob), await channelOf(bob, ada)]
    const { poll } = await ada.does('rest', polls.create, { room: own, question: 'Which?', options: ['tea', 'none'] })
    await ada.does('rest', polls.vote, { room: own, pollId: poll.id, optionIndex: 1 })
    const of = { target: bob.account, room: own }
    await moderates(ada, { ...of, action: 'mute', duration: '1h', reason: 'too loud' })
    await moderates(ada, { action: 'word_add', room: own, patch: { word: 'turnip', word_action: 'flag' } })
    await moderates(bob, { action: 'warn', target: ada.account, room: theirs, reason: 'be kind' })
    await moderates(bob, { action: 'word_add', room: theirs, patch: { word: 'parsnip', word_action: 'flag' } })
    const links = [
      await ada.does('rest', api.invitations.create, { room: own }),
      await ada.does('rest', api.invitations.create, { room: own, max_uses: 3 }),
    ]
    await ada.does('rest', api.invitations.revoke, { room: own, id: links[0]?.invitation.id ?? '' })
    // Records follow the log.
    await until(async () => expect(await Words.countDocuments({ added_by: ada.account })).toBe(1))
    await until(async () => expect(await Votes.countDocuments({ user_address: ada.account })).toBe(1))
    const { files } = await archiveOf(ada)
    const said = conversationsIn(files).flatMap(({ messages: all }) => all)
    expect(said).toMatchObject([{ poll: { poll_id: poll.id, question: 'Which?', options: ['tea', 'none'] } }])
    expect(rowsOf(files, 'polls', 'votes')).toMatchObject([{ poll_id: poll.id, options: [1] }])
    expect(rowsOf(files, 'moderation', 'blocked_words')).toMatchObject([{ word: 'turnip' }])
    const acts = rowsOf(files, 'moderationLog', 'acts')
    expect(acts).toContainEqual(
      expect.objectContaining({ action_type: 'mute', target_user_address: bob.account, reason: 'too loud' }),
    )
    expect(acts).toContainEqual(
      expect.objectContaining({ action_type: 'warn', moderator_address: null, reason: 'be kind' }),
    )
    expect(rowsOf(files, 'moderationLog', 'invitations')).toMatchObject([
      { invitation_id: links[0]?.invitation.id, revoked_at: expect.any(String) },
      { invitation_id: links[1]?.invitation.id, max_uses: 3, revoked_at: null },
    ])
    const all = [...files.values()].map(String).join('\n')
    for (const secret of ['parsnip', ...links.map(({ token }) => token), 'token_hash'])
      expect(all).not.toContain(secret)
  })

  test('has pages with names, times and answers to read, and none of empty parts', async () => {
    const name = `Bob the Writer ${round}`
    await bob.does('rest', accounts.updateProfile, { display_name: name })
    await befriend(ada, bob)
    await say(ada, dmOf(ada.account, bob.account), sealed())
    const [room, group] = [await channelOf(ada), await groupOf(bob, ada)]
    await say(bob, group, 'to the group')
    const first = await say(ada, room, 'as it was')
    await ada.does('rest', messages.edit, { room, id: first.id, text: 'as it is' })
    await ada.does('rest', polls.create, { room, question: 'Which?', options: ['tea & milk', 'none'] })
    const body = new FormData()
    body.set('file', new Blob([png, 'shown']), 'picture.png')
    const headers = { Authorization: `Bearer ${ada.token}` }
    const sent = await fetch(`${ada.url}/api/upload`, { method: 'POST', body, headers })
    const { url } = (await sent.json()) as { url: string }
    await say(ada, room, `[IMAGE]${url}`)
    const { files } = await archiveOf(ada, { include_media: true })
    const index = String(files.get('index.html'))
    expect(index).toContain(`>${name}</a>`)
    expect(index).toMatch(/href="data\/friends\.html">Friends<\/a>/)
    expect(index).not.toContain('data/webhooks')
    const pages = [...files].filter(([path]) => /^messages.*html$/.test(path)).map(([, bytes]) => String(bytes))
    const all = pages.join('\n')
    expect(all).toContain(`<span class="from" dir="auto">${name}</span>`)
    expect(all).toMatch(
      /<time datetime="[^"]+">\d+ \w+ \d{4} at \d\d:\d\d UTC<\/time> <span class="from">edited<\/span>/,
    )
    expect(all).toContain('<li dir="auto">tea &amp; milk</li>')
    expect(all).toContain('<p><i>Encrypted</i></p>')
    expect(all).toMatch(/<img src="\.\.\/files\/[^"]+"/)
    expect(all).not.toMatch(/\[(IMAGE|POLL)\]/)
    expect(String(files.get('data/friends.html'))).toContain(`${name} (${bob.account})`)
    const told = String(files.get('data/polls.html')) + files.get('data/rooms.html')
    expect(told).not.toMatch(/<th>Id<\/th><td dir="auto">[\da-f-]{36}</)
    expect(told).not.toContain('<table></table>')
    for (const label of ['Account', 'Created', 'Joined']) expect(told).toContain(`<th>${label}</th>`)
    expect(told).not.toMatch(/<th>(User address|Created at)</)
  })

  test('has all of direct messages and groups, and of rooms what its owner wrote', async () => {
    const [room, group] = [await channelOf(bob), await groupOf(bob, ada)]
    await ada.does('rest', api.rooms.join, { room })
    await say(bob, room, 'to everybody')
    await say(ada, room, 'mine')
    await say(bob, group, 'to the group')
    await befriend(ada, bob)
    await say(bob, dmOf(ada.account, bob.account), sealed())
    const { files } = await archiveOf(ada)
    const said = conversationsIn(files).map(({ room: { type }, messages: all }) => [
      type,
      all.map(({ content, sender_address }: { content: string; sender_address: string }) =>
        type === 'dm' ? sender_address : content,
      ),
    ])
    expect(said).toContainEqual(['channel', ['mine']])
    expect(said).toContainEqual(['group', ['to the group']])
    expect(said).toContainEqual(['dm', [bob.account]])
  })

  test('has the replies of others to its owner in rooms, in their order, as long as these can be read', async () => {
    const [open, left] = [await channelOf(bob, ada), await channelOf(bob, ada)]
    for (const room of [open, left]) {
      const mine = await say(ada, room, 'mine')
      await say(bob, room, 'to everybody')
      const reply = await say(bob, room, 'to her', { reply_to: mine.id })
      await say(bob, room, 'to himself', { reply_to: reply.id })
      await say(ada, room, 'mine again', { reply_to: reply.id })
      const gone = await say(bob, room, 'taken back', { reply_to: mine.id })
      await bob.does('rest', messages.remove, { room, id: gone.id })
    }
    await ada.does('rest', api.rooms.leave, { room: left })
    await moderates(bob, { action: 'rules', room: left, patch: { rules: { read_access: 'members' } } } as never)
    const { files } = await archiveOf(ada)
    const textsOf = (id: string) =>
      conversationsIn(files)
        .filter(({ room }) => room.id === id)
        .flatMap(({ messages: all }) => all)
        .map(({ content }: { content: string }) => content)
    expect(textsOf(open.id)).toEqual(['mine', 'to her', 'mine again'])
    expect(textsOf(left.id)).toEqual(['mine', 'mine again'])
  })

  test('goes on with a group that its owner has left: with what they wrote themselves', async () => {
    const group = await groupOf(bob, ada)
    await say(bob, group, 'of others')
    await say(ada, group, 'mine')
    await ada.does('rest', api.rooms.leave, { room: group })
    const { files } = await archiveOf(ada)
    expect(
      conversationsIn(files).map(({ messages: all }) => all.map(({ content }: { content: string }) => content)),
    ).toEqual([['mine']])
  })

  test('has nothing that others keep to themselves, and no key of this server', async () => {
    await befriend(ada, bob)
    await bob.does('rest', contactNotes.write, { targetAddress: ada.account, notes: 'a note about her' })
    await bob.does('rest', social.report, {
      reportedAddress: ada.account,
      reportType: 'spam',
      description: 'a report about her',
    })
    await bob.does('rest', social.block, { userAddress: ada.account })
    const { bytes, files } = await archiveOf(ada)
    const all = [...files.values()].map(String).join('\n')
    expect(all).not.toContain('about her')
    expect(rowsOf(files, 'social', 'blocks')).toEqual([])
    const told = declaredModels().flatMap(({ model, own }) =>
      (own === null || own === "nobody's" ? [] : (own.secret ?? []))
        .filter((field) => rowsHave(files, model.collection.collectionName, field))
        .map((field) => `${model.modelName}.${field}`),
    )
    expect(told).toEqual([])
    expect(bytes.byteLength).toBeLessThan(200_000)
  })

  test.each(over)('is begun over %s, once a day, and while it is written that one is answered', async (door) => {
    const first = await ada.does(door, ownData.beginExport, {})
    expect(first.export).toMatchObject({ state: 'working', include_media: false })
    await ready(ada)
    const refusal = await ada.refused(door, ownData.beginExport, {})
    expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', message: 'You can have one archive a day' })
    expect(refusal.retryAfter).toBeGreaterThan(86_000)
    server.setAhead(86_500)
    const nextDay = await person(server, `takes her data ${round}`)
    const second = await nextDay.does(door, ownData.beginExport, {})
    expect(second.export.id).not.toBe(first.export.id)
    await ready(nextDay)
  })

  test('of many requests at once is one', async () => {
    const begun = await Promise.all(Array.from({ length: 10 }, () => ada.does('rest', ownData.beginExport, {})))
    expect(new Set(begun.map((one) => one.export.id)).size).toBe(1)
    await ready(ada)
  })

  test('is begun anew where a run of it failed, and leaves nothing behind', async () => {
    const before = await archivesIn(folder)
    vi.spyOn(storage, 'put').mockImplementationOnce(async (key) => {
      await mkdir(join(folder, archiveFolder), { recursive: true })
      await writeFile(join(folder, key), 'half of it')
      throw new AppError('UPSTREAM_ERROR')
    })
    const left = join(tmpdir(), archiveSpool, `${hostname().replace(/[^\w-]/g, '_')}.2147483646.left`)
    await mkdir(left, { recursive: true })
    const { files } = await archiveOf(ada)
    expect(await readdir(join(tmpdir(), archiveSpool))).not.toContain(basename(left))
    expect(files.has('index.html')).toBe(true)
    expect(await archivesIn(folder)).toHaveLength(before.length + 1)
  })

  test('is told of while it is written, with an estimate of its end by its pace', async () => {
    const pictures = ['one.png', 'two.png', 'three.png']
    for (const name of pictures) {
      const body = new FormData()
      body.set('file', new Blob([png, name]), name)
      const headers = { Authorization: `Bearer ${ada.token}` }
      expect((await fetch(`${ada.url}/api/upload`, { method: 'POST', body, headers })).status).toBe(200)
    }
    const releases: (() => void)[] = []
    const read = storage.read.bind(storage)
    const held = vi.spyOn(storage, 'read').mockImplementation(async (...given) => {
      await new Promise<void>((resolve) => releases.push(resolve))
      return read(...given)
    })
    await ada.does('rest', ownData.beginExport, { include_media: true })
    expect((await exportOf(ada)).export).toMatchObject({ state: 'working', ready_at: null })
    await until(() => expect(releases).toHaveLength(1))
    // The first estimate is made after a second of work.
    const begun = performance.now()
    await until(() => expect(performance.now() - begun).toBeGreaterThan(1_000))
    releases[0]?.()
    await until(() => expect(releases).toHaveLength(2))
    const { export: told } = await exportOf(ada)
    expect(told).toMatchObject({ state: 'working', ready_at: expect.any(String) })
    const left = Date.parse(told?.ready_at ?? '') - Date.now()
    expect(left).toBeLessThan(60_000)
    held.mockRestore()
    releases[1]?.()
    expect((await ready(ada)).export).toMatchObject({ ready_at: null, done: told?.total })
  })

  test('is told of when it is ready', async () => {
    const line = await ada.socket('/notifications')
    await ada.does('rest', ownData.beginExport, {})
    await line.hears(dataExportChanged, (told) => told.export.state === 'ready')
    const { export: told } = await exportOf(ada)
    expect(told?.done).toBe(told?.total)
    expect(told?.bytes).toBeGreaterThan(1_000)
  })

  test('is told of by a notice in the browsers of its owner once it is ready', async () => {
    for (const who of [ada, bob])
      await who.does('rest', push.subscribe, { subscription: pushBrowser(endpointOf(who)).asJson })
    await ada.does('rest', ownData.beginExport, {})
    const { export: made } = await ready(ada)
    const notice = { title: 'Your data is ready', url: '/settings/data', tag: `archive:${made?.id}` }
    await until(() => expect(noticesOf(ada)).toMatchObject([notice]))
    expect(noticesOf(bob)).toEqual([])
  })

  test('is written of by e-mail once it is ready, where an address is verified', async () => {
    const email = `ada-${round}@example.test`
    await Accounts.updateOne({ _id: ada.account }, { $set: { email, email_verified: true } })
    await ada.does('rest', ownData.beginExport, {})
    const letter = {
      subject: 'Your data is ready',
      text: expect.stringContaining('http://localhost:3000/settings/data\n'),
    }
    await until(async () => expect(await lettersTo(server, email)).toMatchObject([letter]))
  })

  test('has the files that were uploaded, as they were, where its owner asks for them', async () => {
    const form = new FormData()
    form.set('file', new Blob([png]), 'picture.png')
    const sent = await fetch(`${ada.url}/api/upload`, {
      method: 'POST',
      body: form,
      headers: { Authorization: `Bearer ${ada.token}` },
    })
    const { url } = (await sent.json()) as { url: string }
    const served = Buffer.from(await (await fetch(at(ada, url))).arrayBuffer())
    const { files } = await archiveOf(ada, { include_media: true })
    const [name = ''] = [...files.keys()].filter((path) => path.startsWith('files/'))
    expect(url.endsWith(name.slice('files/'.length))).toBe(true)
    expect(files.get(name)?.equals(served)).toBe(true)
    const none = await archiveOf(bob)
    expect([...none.files.keys()].filter((path) => path.startsWith('files/'))).toEqual([])
  })

  test('has files under names that each system can write, where its pages link to them', async () => {
    const group = await groupOf(ada, bob)
    const names = ['con.txt', 'con.txt', `${'long '.repeat(29)}name`]
    for (const called of names) {
      const body = new FormData()
      body.set('name', called)
      body.set('file', new Blob(['words']))
      const headers = { Authorization: `Bearer ${ada.token}` }
      const sent = await fetch(`${ada.url}/api/upload/file`, { method: 'POST', body, headers })
      const { url, name, size, mime } = api.uploads.file.output.parse(await sent.json())
      await say(ada, group, name, { attachments: [{ url, name, size, mime }] })
    }
    const { files } = await archiveOf(ada, { include_media: true })
    const paths = [...files.keys()].filter((path) => path.startsWith('files/'))
    expect(paths.map((path) => path.split('/').at(-1)).sort()).toEqual(['_con.txt', '_con.txt', names[2]])
    for (const path of paths) expect(path.length).toBeLessThanOrEqual(180)
    const pages = [...files].filter(([path]) => /^messages.*html$/.test(path)).map(([, bytes]) => String(bytes))
    const links = [...pages.join('').matchAll(/href="\.\.\/(files[^"]+)"/g)].map(([, path = '']) =>
      decodeURIComponent(path),
    )
    expect(links.sort()).toEqual(paths.sort())
  })
})

describe('P25: the address of an archive', () => {
  test('is for a caller who has just signed in, and good for ten minutes', async () => {
    await ada.does('rest', ownData.beginExport, {})
    const { url } = await ready(ada)
    const again = await ada.does('rest', ownData.exportUrl, {})
    expect((await fetch(at(ada, again.url))).status).toBe(200)
    server.setAhead(400)
    expect((await exportOf(ada)).url).toBe(null)
    expect((await ada.refused('rest', ownData.exportUrl, {})).code).toBe('REAUTHENTICATION_REQUIRED')
    expect((await fetch(at(ada, url ?? ''))).status).toBe(200)
    server.setAhead(700)
    expect((await fetch(at(ada, url ?? ''))).status).toBe(404)
  })

  test('serves a part, so that a download can go on where it broke off', async () => {
    await ada.does('rest', ownData.beginExport, {})
    const { url } = await ready(ada)
    const part = (headers: Record<string, string> = {}, method = 'GET') =>
      fetch(at(ada, url ?? ''), { method, headers })
    const [whole, head] = [await part(), await part({}, 'HEAD')]
    const bytes = Buffer.from(await whole.arrayBuffer())
    const version = whole.headers.get('etag') ?? ''
    for (const { headers } of [whole, head])
      expect(Object.fromEntries(headers)).toMatchObject({
        'accept-ranges': 'bytes',
        'content-length': String(bytes.length),
        etag: expect.stringMatching(/^"[\w-]+"$/),
      })
    const rest = await part({ Range: 'bytes=100-', 'If-Range': version })
    expect(rest.status).toBe(206)
    expect(rest.headers.get('content-range')).toBe(`bytes 100-${bytes.length - 1}/${bytes.length}`)
    expect(rest.headers.get('cache-control')).toBe('private, no-store')
    expect(Buffer.from(await rest.arrayBuffer())).toEqual(bytes.subarray(100))
    const beyond = await part({ Range: `bytes=${bytes.length}-` })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`])
    expect(await beyond.text()).toBe('')
    for (const headers of [
      { Range: 'bytes=100-', 'If-Range': '"another"' },
      { Range: 'bytes=0-9,20-29' },
      { Range: 'bytes=9-0' },
      { Range: 'bytes=x-' },
      { Range: 'pages=0-9' },
    ]) {
      const another = await part(headers)
      expect([another.status, Buffer.from(await another.arrayBuffer()).equals(bytes)]).toEqual([200, true])
    }
    for (const [range, from, to] of [
      ['0-0', 0, 1],
      ['-7', bytes.length - 7, bytes.length],
      [`-${bytes.length + 1}`, 0, bytes.length],
      [`10-${bytes.length + 10}`, 10, bytes.length],
    ] as const) {
      const some = await part({ Range: `bytes=${range}` })
      expect([some.status, some.headers.get('content-length')]).toEqual([206, String(to - from)])
      expect(Buffer.from(await some.arrayBuffer())).toEqual(bytes.subarray(from, to))
    }
    const asked = await part({ Range: 'bytes=0-9' }, 'HEAD')
    expect([asked.status, asked.headers.get('content-length')]).toEqual([200, String(bytes.length)])
    expect((await part({ Range: 'bytes=-0' })).status).toBe(416)
  })

  test('is of nobody else, and cannot be guessed or changed', async () => {
    await ada.does('rest', ownData.beginExport, {})
    const { url } = await ready(ada)
    expect(await exportOf(bob)).toEqual({ export: null, url: null })
    expect((await bob.refused('rest', ownData.exportUrl, {})).code).toBe('NOT_FOUND')
    const path = new URL(url ?? '').pathname
    for (const wrong of [
      `${path}A`,
      path.slice(0, -2),
      '/archives/x',
      '/archives/%2e%2e%2fetc',
      `/archives/${'a.'.repeat(500)}`,
    ])
      expect([wrong, (await fetch(`${ada.url}${wrong}`)).status]).toEqual([wrong, 404])
    expect((await fetch(`${ada.url}${path}`, { method: 'POST' })).status).toBe(405)
    const { key } = (await DataExports.findById(ada.account).lean()) ?? {}
    expect((await fetch(`${ada.url}/files/${key}`)).status).toBe(404)
  })

  test(`is gone after ${archiveDays} days, with the archive; the sweep of files leaves it alone before`, async () => {
    await ada.does('rest', ownData.beginExport, {})
    const { export: made } = await ready(ada)
    const key = (await DataExports.findById(ada.account).lean())?.key ?? ''
    const stored = async () => (await readdir(folder, { recursive: true })).includes(key)
    server.setAhead((archiveDays - 1) * 86_400)
    const [node] = server.apps.map((app) => app.node)
    if (!node) throw new Error('No node')
    await sweepFiles(node, new AbortController().signal)
    expect(await stored()).toBe(true)
    server.setAhead(archiveDays * 86_400 + 60)
    const later = await person(server, `takes her data ${round}`)
    expect((await exportOf(later)).url).toBe(null)
    await removeArchive(node, ada.account, made?.id ?? '')
    expect(await stored()).toBe(false)
    expect(await exportOf(later)).toEqual({ export: null, url: null })
  })
})

test('who is not signed in has no archive', async () => {
  for (const route of ['POST /api/account/export', 'GET /api/account/export', 'POST /api/account/export/url'])
    expect((await call(server.url, route, route.startsWith('POST') ? {} : null)).status).toBe(401)
})

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const archivesIn = async (folder: string) =>
  (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.zip'))

/** Whether the rows of a collection in an archive have a field. */
function rowsHave(files: ReadonlyMap<string, Buffer>, collection: string, field: string): boolean {
  return [...files].some(([name, bytes]) => {
    if (!/^data\/.*\.json$/.test(name)) return false
    const rows = (JSON.parse(String(bytes)) as Record<string, unknown>)[collection]
    return Array.isArray(rows) && rows.some((row) => field in row)
  })
}
