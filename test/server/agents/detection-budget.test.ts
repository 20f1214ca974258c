// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeWeb } from '#server/ports/web/fake'
import { agents } from '#shared/api/agents/agents'
import { type Booted, boot } from '#test/support/boot'
import { outcomeOf, over, person } from '#test/support/people'

const web = fakeWeb()
let server: Booted
beforeAll(async () => {
  server = await boot({ environment: { RATE_LIMIT_SCALE: '1', BETA: 'open' }, services: { web } })
})
afterAll(() => server.close())

test.each(over)(
  'an API is sought thirty times a minute over %s, which takes no question to an agent away',
  async (door) => {
    const owner = await person(server, `seeker over ${door}`)
    const { agent } = await owner.does('rest', agents.create, { name: 'Finder' })
    const outcomes: string[] = []
    for (let one = 0; one < 31; one++)
      outcomes.push(outcomeOf(await owner.tries(door, agents.detectApi, { url: 'https://sought.test/v1' })))
    expect(outcomes).toEqual([...Array.from({ length: 30 }, () => '200'), '429 RATE_LIMIT_EXCEEDED'])
    const before = web.asked.length
    await owner.refused(door, agents.detectApi, { url: 'https://sought.test/v1' })
    expect(web.asked).toHaveLength(before)
    expect(outcomeOf(await owner.tries('rest', agents.chat, { id: agent.id, message: 'Hello' }))).toBe('200')
  },
)
