import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { eraseRows } from '#server/domains/platform/own-data/erased-rows'
import { Erasures } from '#server/domains/platform/own-data/model'
import { verifyChain } from '#server/log/index'
import { RoomEvents } from '#server/log/model'
import { chainedRows } from '#server/log/store'
import { GLOBAL, type RoomKey } from '#server/log/types'
import { api } from '#shared/api/index'
import { ownData } from '#shared/api/platform/own-data'
import { messages } from '#shared/api/rooms/messages'
import { roomKey } from '#shared/kit/room-key'
import { boot } from '#test/support/boot'
import { channelOf, groupOf, moderates, person, personAt, say } from '#test/support/people'
import { inOneFile } from '#test/support/programs'
import { seeded } from '#test/support/seeded'
import { freshDatabase, spawned, started } from '#test/support/started'

/** Each death costs a start, about two seconds of a processor: four are the price of ten other tests. */
const deaths = { erasing: 3, settling: 1 }
/** An erasure of this account has about so many writes. */
const writesOf = { erasing: 90, settling: 8 }
const daySeconds = 86_400
/** A dead process has its job for 15 seconds, and is taken for alive for 30. */
const stepSeconds = 40

let program: string
beforeAll(async () => {
  program = await inOneFile('test/support/erasing-server.ts')
})

/** Runs the server until it dies, or a step of the erasure is done. */
async function runUntilOver(environment: Record<string, string>): Promise<'died' | 'done'> {
  const child = spawned(environment, program)
  const died = once(child, 'exit').then(() => 'died' as const)
  const done = (async () => {
    let told = ''
    for await (const piece of child.stdout) {
      told += piece
      if (told.includes('A step of the erasure is done')) return 'done' as const
    }
    return died
  })()
  const outcome = await Promise.race([died, done])
  child.kill('SIGKILL')
  await died
  return outcome
}

const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 90_000, interval: 100 })

test.each(['the embedded store', ...(process.env.MONGODB_URI ? ['MongoDB'] : [])])(
  'P26: an erasure whose process is killed with -9 again and again leaves nothing of the account on %s, and all of others',
  async (store) => {
    const seed = Number(process.env.ERASURE_SEED ?? randomInt(2 ** 31))
    const random = seeded(seed)
    console.log(`ERASURE_SEED=${seed} repeats these deaths on ${store}`)
    const directory = mkdtempSync(join(tmpdir(), 'plaza-erased-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const environment = {
      DATA_DIR: directory,
      ERASURE_GRACE_DAYS: '1',
      BETA: 'open',
      RATE_LIMIT_SCALE: '1000',
      ...(store === 'MongoDB' && { MONGODB_URI: freshDatabase() }),
    }

    const first = await started(environment, program)
    const [goes, stays] = [await personAt(first.url, 'killed: goes'), await personAt(first.url, 'killed: stays')]
    const rooms = [await channelOf(stays, goes), await channelOf(goes, stays), await groupOf(stays, goes)]
    for (const room of rooms)
      for (const at of [0, 1, 2]) {
        const asked = await say(goes, room, `gone ${at}`)
        await say(stays, room, `kept ${at}`, { reply_to: asked.id })
      }
    const [owned] = rooms.slice(1)
    if (owned)
      await moderates(goes, { action: 'word_add', room: owned, patch: { word: 'rhubarb', word_action: 'block' } })
    await goes.does('rest', api.agents.create, { name: 'Killed', visibility: 'public' })
    await goes.does('rest', ownData.erase, { messages: 'erase', confirm: goes.account })
    first.process.kill('SIGKILL')
    await once(first.process, 'exit')

    let ahead = daySeconds
    const next = (dies: number) => {
      ahead += stepSeconds
      return runUntilOver({ ...environment, AHEAD: String(ahead), DIES_AT: String(dies) })
    }
    const outcomes: string[] = []
    for (const part of ['erasing', 'settling'] as const) {
      let outcome = 'died'
      for (let left = deaths[part]; left > 0 && outcome === 'died'; left--) {
        outcome = await next(1 + Math.floor(random() * writesOf[part]))
        outcomes.push(outcome)
      }
      if (part === 'erasing' && outcome === 'died') await next(0)
      ahead += 60
    }
    expect(outcomes).toContain('died')

    const server = await boot({ nodes: 1, environment: { MONGODB_URI: '', ...environment }, entry: 'through the door' })
    onTestFinished(() => server.close())
    server.setAhead(ahead + stepSeconds)
    await until(async () => expect(await Erasures.exists({ finished_at: { $ne: null } })).not.toBeNull())
    expect(await Accounts.exists({ _id: goes.account })).toBeNull()
    const erased = { account: goes.account, alias: 'deleted:0', messages: 'erase' as const }
    expect(await eraseRows([erased], new AbortController().signal)).toEqual([{}])
    const again = await person(server, 'killed: stays')
    for (const room of rooms) {
      const { messages: shown } = await again.does('rest', messages.history, { room })
      expect(shown.map(({ content }) => content)).toEqual(
        [0, 1, 2].flatMap((at) => ['[Message deleted]', `kept ${at}`]),
      )
      const { room: found } = await again.does('rest', api.rooms.get, { room })
      expect(found).toMatchObject({ owner_address: stays.account, is_active: true })
    }
    for (const key of [GLOBAL, ...rooms.map(roomKey)] as RoomKey[]) {
      expect(verifyChain(await chainedRows(key, {}, 1_000, 1), '')).toBeNull()
      const seqs = (await RoomEvents.find({ room: key }, { seq: 1 }).sort({ seq: 1 }).lean()).map(({ seq }) => seq)
      expect(seqs).toEqual(seqs.map((_, at) => at + 1))
    }
  },
)
