// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { evilPatterns, evilTexts } from '#test/support/evil-patterns'
import { channelOf, check, moderates, type Person, people } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person
let room: RoomRef

beforeAll(async () => {
  server = await boot()
  ;[owner, member] = await people(server, 'owner', 'member')
  room = await channelOf(owner, member)
})
afterAll(() => server.close())

describe('T17: no blocked-word pattern can block the server', () => {
  test.each(evilPatterns)('%s', async (pattern) => {
    const added = await owner.tries('socket', moderation.act, {
      room,
      action: 'word_add',
      patch: { word: pattern, is_regex: true },
    })
    if (!added.ok) expect(added.error.status).toBe(400)
    for (const text of evilTexts) {
      const costs: number[] = []
      for (let turn = 0; turn < 3; turn++) {
        // Time of this process alone: the wall clock also counts what others do on the machine.
        const before = process.cpuUsage()
        await check(member, room, text)
        const { user, system } = process.cpuUsage(before)
        costs.push((user + system) / 1_000)
      }
      expect(Math.min(...costs)).toBeLessThan(100)
    }
    if (added.ok)
      await moderates(owner, {
        room,
        action: 'word_remove',
        patch: { word_id: (added.data.record as { id: string }).id },
      })
  })

  test.each(['a(?=b)', 'a(?!b)', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(?>a+)b'])(
    '%s is refused',
    async (word) => {
      const refused = await owner.refused('socket', moderation.act, {
        room,
        action: 'word_add',
        patch: { word, is_regex: true },
      })
      expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    },
  )
})
