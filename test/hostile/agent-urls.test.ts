// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agents } from '#shared/api/agents/agents'
import { knowledge } from '#shared/api/agents/knowledge'
import { badUrls, plainHttp, spaced } from '#test/support/bad-urls'
import { type Booted, boot } from '#test/support/boot'
import { type Answer, type Door, outcomeOf, over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'
import { webOver } from '#test/support/web'

let admin: Person
let id: string
let made = 0
let server: Booted
beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('admin').address }, services: { web: webOver({}) } })
  admin = await person(server, 'admin')
  id = (await admin.does('rest', agents.create, { name: 'Named', visibility: 'official' })).agent.id
})
afterAll(() => server.close())

const day = () => ({ name: `A day ${++made}`, event_date: '2030-05-01' })

/** Each field of agents, their tools, their events and what they know that takes a URL. */
const fields: Record<string, (door: Door, url: string) => Promise<Answer>> = {
  avatarUrl: (door, avatarUrl) => admin.tries(door, agents.update, { id, avatarUrl }),
  'avatar_url of a new agent': (door, avatar_url) =>
    admin.tries(door, agents.create, { name: `Seen ${++made}`, avatar_url }),
  mcpServers: (door, url) => admin.tries(door, agents.update, { id, mcpServers: [{ id: 's', name: 'S', url }] }),
  apiTools: (door, url) => admin.tries(door, agents.update, { id, apiTools: [{ name: 'S', url, method: 'POST' }] }),
  'detect-api': (door, url) => admin.tries(door, agents.detectApi, { url }),
  'a URL that is known': (door, url) => admin.tries(door, knowledge.add, { id, url }),
}
for (const name of ['event_url', 'rsvp_url', 'source_url', 'organizer_logo_url'] as const)
  fields[name] = (door, url) => admin.tries(door, agents.addEvent, { id, event: { ...day(), [name]: url } })
const isOfEvents = (field: string) => /_url$/.test(field)
/** A picture is fetched at once; there is none at these. */
const isPicture = (field: string) => /^avatar/.test(field)

describe.each(Object.entries(fields))('T15: %s', (field, name) => {
  test.each(over)('takes no URL of the classes 140 to 160, over %s', async (door) => {
    const classes = { ...badUrls, 'plain HTTP': isOfEvents(field) ? plainHttp.slice(1) : plainHttp }
    const taken: unknown[] = []
    for (const [what, urls] of Object.entries(classes))
      for (const url of urls) {
        const outcome = outcomeOf(await name(door, url))
        if (!/^400 (VALIDATION_ERROR|INVALID_PARAMETER)$/.test(outcome)) taken.push([what, url.slice(0, 60), outcome])
      }
    expect(taken).toEqual([])
    expect(outcomeOf(await name('rest', `https://site.test/${'p'.repeat(2_000_000)}`))).toMatch(/^4(00|13) /)
  })

  test.each(over)('takes one that leads where it says, over %s', async (door) => {
    for (const url of ['https://example.com/a', 'https://EXAMPLE.com:8443/b?c#d'])
      expect(outcomeOf(await name(door, `${url}${++made}`))).not.toMatch(
        isPicture(field) ? /INVALID/ : /^400 (VALIDATION_ERROR|INVALID_PARAMETER)/,
      )
  })

  test.each(over)('keeps nothing of white space and controls in one, over %s', async (door) => {
    for (const url of spaced) {
      const answer = await name(door, url)
      if (answer.ok) expect(JSON.stringify(answer.data)).not.toMatch(/site\\t|test\/\\n|\\u0000|test\/ a/)
      else expect(answer.error.status).toBe(400)
    }
  })
})
