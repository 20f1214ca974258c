// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { AuditLines } from '#server/kernel/store/model'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { serviceTokens } from '#shared/api/people/service-tokens'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { operation } from '#shared/kit/contract'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, groupOf, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

let server: Booted
let node: Node
let owner: Person
let member: Person

beforeAll(async () => {
  server = await boot({ environment: { RATE_LIMIT_SCALE: '10', SUPER_ADMINS: wallet('inside root').address } })
  node = server.apps[0]?.node as Node
  owner = await person(server, 'inside owner')
  member = await person(server, 'inside member')
})
afterAll(() => server.close())

test('an act by callAs is judged, stored and told like an act of the account itself', async () => {
  const room = await channelOf(owner, member)
  const line = await owner.line()
  await owner.does('socket', messages.join, { room })
  const { message, verdict } = await node.callAs(member.account, messages.send, { room, text: 'from inside' })
  expect(verdict).toMatchObject({ ok: true })
  await line.follows(room, ({ seq }) => seq === message.seq)
  await owner.does('rest', moderation.act, { room, action: 'ban', target: member.account })
  const again = node.callAs(member.account, messages.send, { room, text: 'once more' })
  await expect(again).rejects.toMatchObject({ code: 'BANNED' })
})

test('nobody does inside what they may not do', async () => {
  const group = await groupOf(owner)
  const refused = (called: Promise<unknown>, code: string) => expect(called).rejects.toMatchObject({ code })
  await refused(node.callAs(member.account, messages.send, { room: group, text: 'x' }), 'ROOM_NOT_FOUND')
  const suspends = { userAddress: owner.account, ban: true }
  await refused(node.callAs(member.account, accounts.suspend, suspends), 'FORBIDDEN')
  await refused(node.callAs(member.account, rooms.createChannel, { name: '' }), 'VALIDATION_ERROR')
  const root = await person(server, 'inside root')
  const asksProof = node.callAs(root.account, serviceTokens.create, { name: 'A bot', scopes: ['messages:read'] })
  await refused(asksProof, 'FORBIDDEN')
})

test('what is no operation of this server is not found', async () => {
  const nothing = z.object({})
  const summary = 'Does nothing.'
  const unbound = operation({
    summary,
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: nothing,
    output: nothing,
  })
  await expect(node.callAs(owner.account, unbound, {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('the answer is checked, and a repeat under a key gets the first one', async () => {
  const named = { name: 'Made inside', idempotency_key: 'made-inside' }
  const made = await node.callAs(owner.account, rooms.createChannel, named)
  expect(rooms.createChannel.output.parse(made)).toEqual(made)
  expect(await node.callAs(owner.account, rooms.createChannel, named)).toEqual(made)
})

test('the audit log holds what was done and what was refused', async () => {
  const room = await channelOf(owner, member)
  const mute = { room, action: 'mute' as const, target: member.account, duration: '1h' as const }
  await node.callAs(owner.account, moderation.act, mute)
  await node.callAs(member.account, moderation.act, { ...mute, target: owner.account }).catch(() => undefined)
  const outcomes = async (actor: string) => {
    const lines = await AuditLines.find({ operation: 'moderation.act', actor }).lean()
    return lines.map(({ outcome }) => outcome)
  }
  await expect.poll(() => outcomes(member.account)).toContain('FORBIDDEN')
  await expect.poll(() => outcomes(owner.account)).toContain('ok')
})

test('the house calls as often as it must, and takes nothing from what the account may', async () => {
  const room = await channelOf(owner, member)
  for (let one = 0; one < 1_100; one++) await node.callAs(member.account, messages.sync, { room, after_seq: 0 })
  const { headers } = await member.rest(`GET /api/rooms/channel/${room.id}/events`)
  expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(900)
})

test('a sequence is iterated inside as outside', async () => {
  const room = await channelOf(owner, member)
  const seen: number[] = []
  for await (const { seq } of await node.callAs(member.account, messages.follow, { room }))
    if (seen.push(seq) === 2) break
  expect(seen).toEqual([1, 2])
})
