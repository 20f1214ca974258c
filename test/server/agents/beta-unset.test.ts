// Modes: embedded, two-nodes-redis
import { expect, test } from 'vitest'
import { agents } from '#shared/api/agents/agents'
import { boot } from '#test/support/boot'
import { outcomeOf, over, person } from '#test/support/people'

test('without BETA everybody makes agents on a server of one process, and who was granted it on others', async () => {
  const server = await boot()
  const isOneProcess = process.env.PLAZA_TEST_STORE === 'embedded'
  const who = await person(server, 'tester')
  for (const door of over)
    expect(outcomeOf(await who.tries(door, agents.create, { name: `Made over ${door}` }))).toBe(
      isOneProcess ? '200' : '403 BETA_ACCESS_REQUIRED',
    )
  await server.close()
})
