// Modes: embedded
import { expect, test } from 'vitest'
import { agents } from '#shared/api/agents/agents'
import { scheduling } from '#shared/api/meetings/scheduling'
import { accounts } from '#shared/api/people/accounts'
import { bookable } from '#test/support/bookings'
import { bootWith } from '#test/support/boot-with'
import { call } from '#test/support/wallet'

const { server, root } = await bootWith(['root'], { superAdmins: ['root'], environment: { BETA: 'open' } })
const pageOf = async (account: string) =>
  accounts.publicProfile.output.parse((await call(server.url, `GET /api/public/user/${account}`)).body)

test('a public page shows the public agents of its account and where it is booked, and nothing that is not public', async () => {
  const who = await bookable(server, 'landing', { scheduling_slug: 'landing', scheduling_title: 'Tea' })
  await who.does('rest', accounts.updateProfile, { public_landing_enabled: true })
  const made = async (name: string, visibility: 'private' | 'friends' | 'public') =>
    (await who.does('rest', agents.create, { name, visibility, personality: 'Kind', systemInstructions: 'Be quiet.' }))
      .agent
  await made('Hidden', 'private')
  await made('For friends', 'friends')
  const { id, avatar_emoji } = await made('Open', 'public')
  const open = { id, name: 'Open', personality: 'Kind', avatar_emoji, avatar_url: null, visibility: 'public' }
  const answer = await call(server.url, `GET /api/public/user/${who.account}`)
  expect(answer.body).toMatchObject({ agents: [open], scheduling: { slug: 'landing', title: 'Tea', bio: null } })
  expect(Object.keys(Object(answer.body.agents)[0]).sort()).toEqual(Object.keys(open).sort())

  await who.does('rest', scheduling.configure, { scheduling_enabled: false })
  await who.does('rest', agents.update, { id, visibility: 'private' })
  expect(await pageOf(who.account)).toMatchObject({ agents: [], scheduling: null })
})

test('of who is suspended it offers neither agents nor calls', async () => {
  const who = await bookable(server, 'suspended landing')
  await who.does('rest', accounts.updateProfile, { public_landing_enabled: true })
  await who.does('rest', agents.create, { name: 'Still there', visibility: 'public' })
  expect(await pageOf(who.account)).toMatchObject({
    agents: [{ name: 'Still there' }],
    scheduling: { slug: null, title: null, bio: null },
  })
  await root.does('rest', accounts.suspend, { userAddress: who.account, ban: true })
  expect(await pageOf(who.account)).toMatchObject({ agents: [], scheduling: null })
})
