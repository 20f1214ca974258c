// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { fakeChain } from '#server/ports/chain/fake'
import { fakeWeb } from '#server/ports/web/fake'
import { agents } from '#shared/api/agents/agents'
import { accounts } from '#shared/api/people/accounts'
import { profiles } from '#shared/api/people/profiles'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { folderStorage } from '#test/support/folder-storage'
import { channelOf, outcomeOf, type Person, person } from '#test/support/people'
import { jpegOf, pngOf } from '#test/support/pictures'

const chain = fakeChain(8_453)
const token = `0x${'7a'.repeat(20)}` as const
const web = fakeWeb()
const bytes = pngOf()
let server: Booted
let made = 0
beforeAll(async () => {
  const chains = new Map([[chain.id, chain]])
  const environment = { BETA: 'open', STORAGE_URL: 'https://stored.test/files', RATE_LIMIT_SCALE: '2' }
  server = await boot({ environment, services: { web, chains, storage: await folderStorage() } })
  chain.deploy(token, { token: { name: 'Fox', symbol: 'FOX', decimals: 18, owner: null } })
})
afterAll(() => server.close())

const someone = () => person(server, `pictured ${++made}`)
/** A new address elsewhere, under which this lies. */
function elsewhere(body: string | Uint8Array = bytes, status = 200): string {
  const url = `https://pictures.test/${++made}`
  web.pages.set(url, { status, body })
  return url
}
const asked = (url: string) => web.asked.filter((one) => one.url === url).length

/** Each field that takes the address of a picture: sets it, and gives what is stored. */
const fields: Record<string, (who: Person, url: string) => Promise<string | null | undefined>> = {
  avatar_url: async (who, avatar_url) =>
    (await who.does('rest', accounts.updateProfile, { avatar_url })).user.avatar_url,
  custom_avatar_url: async (who, custom_avatar_url) =>
    (await who.does('rest', accounts.updateProfile, { custom_avatar_url })).user.custom_avatar_url,
  'the picture of a new agent': async (who, avatarUrl) =>
    (await who.does('rest', agents.create, { name: `Seen ${++made}`, avatarUrl })).agent.avatar_url,
  'the picture of an agent, by both names': async (who, avatarUrl) => {
    const { agent } = await who.does('rest', agents.create, { name: `Seen ${++made}` })
    const given = { id: agent.id, avatarUrl, avatar_url: avatarUrl }
    return (await who.does('socket', agents.update, given)).agent.avatar_url
  },
  'the icon of a room': async (who, icon_url) => {
    const room = await channelOf(who)
    return (await who.does('rest', rooms.update, { room, icon_url })).room.icon_url
  },
  'the icon of a channel, by its documented path': async (who, icon_url) => {
    const { id } = await channelOf(who)
    return ((await who.rest(`PATCH /api/channels/${id}`, { icon_url })).body.channel as { icon_url: string }).icon_url
  },
  'the image of a token': async (who, tokenImage) => {
    const asks = { tokenAddress: token, tokenChainId: chain.id, name: `Foxes ${++made}`, minBalance: '1', tokenImage }
    return (await who.does('rest', rooms.createTokenRoom, asks)).room.icon_url
  },
  'the background of a profile': async (who, background_value) =>
    (await who.does('rest', profiles.dress, { background_type: 'image', background_value })).background_value,
}

describe.each(Object.entries(fields))('O10: %s', (_name, set) => {
  test('is fetched once where it lies elsewhere, and is a copy here from then on, without what is written in it', async () => {
    const who = await someone()
    const url = elsewhere(jpegOf({ about: [0] }))
    const here = String(await set(who, url))
    expect(here).toMatch(/^https:\/\/stored\.test\/files\/media\/(avatar|icon)\/.+\.jpg$/)
    expect(asked(url)).toBe(1)
    const answer = await fetch(`${server.url}${new URL(here).pathname}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    expect(await set(who, here)).toBe(here)
  })

  test.each([
    ['is no picture', () => elsewhere('<html>')],
    ['is not found', () => elsewhere(bytes, 404)],
    ['is too large', () => elsewhere(Buffer.concat([bytes, Buffer.alloc(3 * 1024 * 1024)]))],
    ['does not answer', () => `https://nowhere.test/${++made}`],
    ['lies in the network of the server', () => 'https://10.0.0.7/a.png'],
  ])('is refused where what is there %s', async (_why, url) => {
    await expect(set(await someone(), url())).rejects.toThrow()
  })
})

describe('O10: an address elsewhere that an older version has stored', () => {
  test('stays where it is sent again, and nobody is asked for it', async () => {
    const who = await someone()
    const avatar_url = `https://gone.test/${++made}`
    await Accounts.updateOne({ _id: who.account }, { $set: { avatar_url } })
    const { user } = await who.does('rest', accounts.updateProfile, { avatar_url, display_name: 'Kept' })
    expect([user.avatar_url, asked(avatar_url)]).toEqual([avatar_url, 0])
  })
})

test('O10: a refusal names the field, and an account has so many pictures fetched in an hour', async () => {
  const who = await someone()
  const refused = await who.refused('rest', accounts.updateProfile, { avatar_url: elsewhere('<html>') })
  expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  expect(refused.message).toContain('avatar_url')
  const outcomes = new Set<string>()
  for (let time = 1; time <= 60; time++)
    outcomes.add(outcomeOf(await who.tries('rest', accounts.updateProfile, { avatar_url: elsewhere('<html>') })))
  expect([...outcomes]).toEqual(['400 VALIDATION_ERROR', '429 RATE_LIMIT_EXCEEDED'])
})
