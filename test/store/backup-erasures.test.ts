import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { followErasureList } from '#server/domains/platform/own-data/index'
import { Erasures } from '#server/domains/platform/own-data/model'
import { ownData } from '#shared/api/platform/own-data'
import { messages } from '#shared/api/rooms/messages'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, people, person, say } from '#test/support/people'
import { build, programs } from '#test/support/programs'

const long = 180_000
beforeAll(build, long)

const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 100 })
const settledSeconds = 120
let ahead = 0

/** A server whose clock goes on where that of the one before ended. */
async function start(data: string): Promise<Booted> {
  const environment = { DATA_DIR: data, MONGODB_URI: '', ERASURE_GRACE_DAYS: '0' }
  const server = await boot({ nodes: 1, environment, entry: 'through the door' })
  server.setAhead(ahead)
  return server
}

async function settle(server: Booted): Promise<void> {
  await until(async () => expect(await Erasures.exists({ forgotten_at: { $ne: null } })).toBeTruthy())
  ahead += settledSeconds
  server.setAhead(ahead)
  await until(async () => expect(await Erasures.exists({ finished_at: null })).toBeNull())
}

async function plaza(options: readonly string[], data: string) {
  const { MONGODB_URI: _, ...inherited } = process.env
  const child = spawn(process.execPath, [programs.cli, ...options], {
    env: { ...inherited, DATA_DIR: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [told, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, told, complaint }
}

const textsIn = async (who: Person, room: RoomRef) =>
  (await who.does('rest', messages.history, { room })).messages.map(({ content }) => content)

test('P26: a restored backup brings nobody back', { ...heavy, timeout: long }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-restored-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const [data, elsewhere, backup] = ['data', 'restored', 'plaza.gz'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  const server = await start(data)
  const [goes, stays] = await people(server, 'was erased', 'stays')
  const room = await channelOf(stays, goes)
  await say(goes, room, 'words of the erased')
  await say(stays, room, 'words of others')
  expect(await plaza(['backup', backup], data)).toMatchObject({ code: 0 })
  await goes.does('rest', ownData.erase, { messages: 'erase', confirm: goes.account })
  await settle(server)
  await server.close()

  expect(await plaza(['restore', backup], elsewhere)).toEqual({
    code: 1,
    told: '',
    complaint: expect.stringMatching(/^There is no erasures\.jsonl in .+ --without-erasures\.\n$/),
  })
  const list = await readFile(join(data, 'erasures.jsonl'), 'utf8')
  expect(
    list
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([{ messages: 'erase' }])
  expect(list.toLowerCase()).not.toContain(goes.account.slice(2).toLowerCase())
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, 'erasures.jsonl'), `${list}{"hash":`)
  expect((await plaza(['restore', backup], elsewhere)).complaint).toContain('line 2 is damaged')
  await copyFile(join(data, 'erasures.jsonl'), join(elsewhere, 'erasures.jsonl'))
  expect(await plaza(['restore', backup], elsewhere)).toMatchObject({
    code: 0,
    told: expect.stringContaining('1 account deleted since the backup: the first start deletes them again.'),
  })

  const restored = await start(elsewhere)
  await settle(restored)
  expect(await Accounts.exists({ _id: goes.account })).toBeNull()
  const again = await person(restored, 'stays')
  expect(await textsIn(again, room)).toEqual(['[Message deleted]', 'words of others'])
  // A new account with the same address is another one, also after the next start.
  await person(restored, 'was erased')
  await restored.close()
  const later = await start(elsewhere)
  const node = later.apps[0]?.node
  if (!node) throw new Error('No node')
  await followErasureList(node)
  expect(await Accounts.exists({ _id: goes.account, erased_at: { $exists: false } })).not.toBeNull()
  await later.close()
})
