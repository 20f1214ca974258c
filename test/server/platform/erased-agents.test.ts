// Modes: embedded
import { expect, test, vi } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { Accounts } from '#server/domains/people/accounts/model'
import { Erasures, type StoredErasure } from '#server/domains/platform/own-data/model'
import { api } from '#shared/api/index'
import { ownData } from '#shared/api/platform/own-data'
import { accountOfAgent } from '#shared/kit/room-agents'
import { bootWith } from '#test/support/boot-with'
import { folderStorage } from '#test/support/folder-storage'
import { over, type Person, person } from '#test/support/people'
import { pngOf } from '#test/support/pictures'

const { server, first, namesake, second, admin, somebody } = await bootWith(
  ['first', 'namesake', 'second', 'admin', 'somebody'],
  {
    superAdmins: ['first', 'namesake', 'second'],
    admins: ['admin'],
    environment: { ERASURE_GRACE_DAYS: '0', BETA: 'open' },
    services: { storage: await folderStorage() },
    entry: 'through the door',
  },
)

let ahead = 0
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 100 })
async function erase(who: Person): Promise<void> {
  await who.does('rest', ownData.erase, { messages: 'unlink', confirm: who.account })
  const _id = (await Accounts.findOne({ _id: who.account }).lean())?.erasure_id ?? ''
  const state = () => Erasures.findOne({ _id }).lean<StoredErasure>()
  await until(async () => expect((await state())?.forgotten_at).toBeTruthy())
  ahead += 120
  server.setAhead(ahead)
  await until(async () => expect((await state())?.finished_at).toBeTruthy())
}

test('P26: an official agent stays when its owner is erased: a super admin gets it, and without one nobody', async () => {
  // Where there is an official one, nobody makes another of its name.
  await namesake.does('rest', api.agents.create, { name: 'Guide' })
  const { agent } = await first.does('rest', api.agents.create, { name: 'Guide', visibility: 'official' })
  const { id } = agent
  await first.does('rest', api.agents.create, { name: 'Of my own', visibility: 'public' })
  await admin.does('rest', api.agents.joinRoom, { id, channelType: 'global' })
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(pngOf())]))
  const headers = { authorization: `Bearer ${first.token}` }
  const sent = await fetch(`${server.url}/api/agents/${id}/avatar`, { method: 'POST', headers, body })
  expect(sent.status).toBe(200)
  const { counts } = await first.does('rest', ownData.readErasure, {})
  expect(counts).toMatchObject({ agents: 1 })

  await erase(first)
  const kept = await Agents.findOne({ _id: id }).lean()
  expect(kept).toMatchObject({ owner_address: second.account, avatar_url: expect.stringContaining('/deleted:') })
  expect(kept).not.toHaveProperty('place')
  const shown = await fetch(`${server.url}${new URL(kept?.avatar_url ?? '').pathname}`)
  expect(shown.status).toBe(200)
  expect(await Accounts.findOne({ _id: accountOfAgent(id) }).lean()).toMatchObject({ avatar_url: kept?.avatar_url })
  expect(await Agents.countDocuments({ name: 'Of my own' })).toBe(0)
  for (const door of over)
    expect((await somebody.does(door, api.agents.get, { id })).agent).toMatchObject({ name: 'Guide' })

  // A deletion needs a fresh sign-in.
  for (const name of ['namesake', 'second']) await erase(await person(server, name))
  expect((await Agents.findOne({ _id: id }).lean())?.owner_address).toMatch(/^deleted:/)
  for (const door of over) {
    expect((await somebody.does(door, api.agents.get, { id })).agent).toMatchObject({ name: 'Guide' })
    expect((await admin.does(door, api.agents.update, { id, personality: `kind ${door}` })).agent.id).toBe(id)
  }
  const { agents } = await somebody.does('rest', api.agents.inRoom, { id: 'global' })
  expect(agents.map((one) => one.name)).toEqual(['Guide'])
})
