// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { agents } from '#shared/api/agents/agents'
import { knowledge } from '#shared/api/agents/knowledge'
import { payments } from '#shared/api/payments/payments'
import type { Operation } from '#shared/kit/contract'
import { type Booted, boot } from '#test/support/boot'
import { paymentOf } from '#test/support/payments'
import { channelOf, type Door, outcomeOf, over, type Person, person, requestOf } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { call, wallet } from '#test/support/wallet'
import { webOver } from '#test/support/web'

const puppet = puppetModel()
let server: Booted
const roles: Record<string, Person | null> = { nobody: null }
let channel: string
beforeAll(async () => {
  const [admin, root] = [wallet('admin').address, wallet('root').address]
  server = await boot({
    environment: { BETA: 'open', ADMINS: admin, SUPER_ADMINS: root },
    services: { model: puppet.model, web: webOver({}), facilitator: fakeFacilitator() },
  })
  for (const name of ['stranger', 'owner', 'admin', 'root']) roles[name] = await person(server, name)
  channel = (await channelOf(owner())).id
})
afterAll(() => server.close())

const owner = () => roles.owner as Person
let made = 0

type Rank = 'nobody' | 'signed in' | 'owner' | 'admin' | 'owner or admin'
interface Act {
  operation: Operation
  /** Who may do so with an agent of somebody's, and with an official one. */
  may: readonly [own: Rank, official: Rank]
  input?: () => object
}
const url = 'https://example.com/'
const day = { name: 'A day', event_date: '2030-05-01' }
const own = ['owner', 'admin'] as const
const inChannel = () => ({ channelType: 'channel', channelId: channel })
const house = ['admin', 'admin'] as const
const acts: Readonly<Record<string, Act>> = {
  'see an agent': { operation: agents.get, may: ['owner', 'signed in'] },
  'change it': { operation: agents.update, may: own, input: () => ({ personality: 'Changed' }) },
  'make it official': { operation: agents.update, may: ['nobody', 'admin'], input: () => ({ visibility: 'official' }) },
  'try its tools': { operation: agents.testTool, may: own, input: () => ({ serverId: 'none' }) },
  'see what it knows': { operation: knowledge.list, may: own },
  'let it know a URL': { operation: knowledge.add, may: own, input: () => ({ url }) },
  'see one URL': { operation: knowledge.get, may: own, input: () => ({ knowledge_id: 'none' }) },
  'change one URL': {
    operation: knowledge.update,
    may: ['owner or admin', 'admin'],
    input: () => ({ knowledge_id: 'none', title: 'A title' }),
  },
  'have one read': {
    operation: knowledge.index,
    may: ['owner or admin', 'admin'],
    input: () => ({ knowledgeId: 'none' }),
  },
  'take one away': { operation: knowledge.remove, may: own, input: () => ({ knowledge_id: 'none' }) },
  'have all read': { operation: knowledge.sync, may: ['owner or admin', 'admin'] },
  'see what it has earned': { operation: payments.receipts, may: own },
  'see how it is sold': { operation: payments.embed, may: own },
  'bring it into a room': { operation: agents.joinRoom, may: ['nobody', 'admin'], input: inChannel },
  'take it out of a room': { operation: agents.leaveRoom, may: house, input: inChannel },
  'add an event': { operation: agents.addEvent, may: house, input: () => ({ event: day }) },
  'change an event': { operation: agents.updateEvent, may: house, input: () => ({ eventId: 'none', name: 'Another' }) },
  'remove an event': { operation: agents.removeEvent, may: house, input: () => ({ eventId: 'none' }) },
  'find events': { operation: agents.extractEvents, may: house, input: () => ({}) },
  'remove it': { operation: agents.remove, may: own },
}

function isAllowed(rank: Rank, name: string): boolean {
  if (rank === 'signed in') return name !== 'nobody'
  if (rank === 'nobody') return false
  const isAdmin = name === 'admin' || name === 'root'
  return (rank !== 'admin' && name === 'owner') || (rank !== 'owner' && isAdmin)
}

/** Whether somebody does so with a new agent; where they do not, it is as it was. */
async function done(who: Person | null, door: Door, { operation, input }: Act, isOfficial: boolean): Promise<string> {
  const price = { x402Enabled: true, x402PriceCents: 5 }
  const { id } = (await owner().does('rest', agents.create, { name: `Agent ${++made}`, ...price })).agent
  // As one of an admin who is none any more: it is the house's.
  if (isOfficial) await Agents.updateOne({ _id: id }, { $set: { visibility: 'official' } })
  const before = await Agents.findOne({ _id: id }).lean()
  const asked = { ...(operation === knowledge.sync ? { agentId: id } : { id }), ...input?.() }
  const { route, body } = requestOf(operation.http ?? '', asked)
  const outcome = outcomeOf(
    who ? await who.tries(door, operation, asked as never) : await call(server.url, route, body),
  )
  const isRefused = /^(40[13] |404 AGENT_NOT_FOUND)/.test(outcome)
  if (isRefused) expect(await Agents.findOne({ _id: id }).lean()).toEqual(before)
  await Agents.deleteOne({ _id: id })
  if (isRefused) return 'refused'
  return /^(200|404)|TOKENS/.test(outcome) ? 'done' : outcome
}

test.each(Object.entries(acts))('T13: to %s is for those whom the table names', async (_what, act) => {
  const [got, expected]: unknown[][] = [[], []]
  for (const [name, who] of Object.entries(roles))
    for (const [at, rank] of act.may.entries())
      for (const door of who && act.operation.socket ? over : (['rest'] as const)) {
        const outcome = await done(who, door, act, at === 1)
        got?.push([name, at, door, rank === 'nobody' && outcome !== 'done' ? 'refused' : outcome])
        expected?.push([name, at, door, isAllowed(rank, name) ? 'done' : 'refused'])
      }
  expect(got).toEqual(expected)
})

describe('T66: what a model says of lines is text', () => {
  const said = ['{"type":"done"}\n', '{"type":"error","error":"no"}\r\n', '\u2028{"t":"done"}\u2029', '\u0085{}\n\n']
  const text = said.join('')
  /** By whatever ends a line for somebody. */
  const linesIn = (body: string) => body.split(/\r\n|[\n\r\u0085\u2028\u2029]/).filter((line) => line !== '')
  async function asked(path: string, body: object | null, headers: Record<string, string>) {
    const answer = fetch(`${server.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', ...headers },
      body: body && JSON.stringify(body),
    })
    if (body) {
      const question = await puppet.asked()
      question.say(...said)
      question.end()
    }
    const lines = linesIn(await (await answer).text()).map((line) => JSON.parse(line) as Record<string, unknown>)
    return lines
  }
  const kinds = (lines: readonly Record<string, unknown>[]) => [...new Set(lines.map(({ type, t }) => type ?? t))]
  const textOf = (lines: readonly Record<string, unknown>[]) => lines.map(({ text }) => text ?? '').join('')
  const bearer = () => ({ authorization: `Bearer ${owner().token}` })

  test('in the lines of an answer, and in its frames', async () => {
    const { id } = (await owner().does('rest', agents.create, { name: 'Of lines' })).agent
    const question = { message: 'Hi', stream: true, client_run_id: crypto.randomUUID() }
    const lines = await asked(`/api/agents/${id}/chat`, question, bearer())
    expect(lines.filter(({ type }) => type === 'error')).toEqual([])
    expect([kinds(lines), textOf(lines), lines.at(-1)?.message]).toEqual([['chunk', 'done'], text, text])
    const { chats } = await owner().does('rest', agents.history, { id })
    const frames = await asked(`/api/agents/runs/${chats[0]?.run_id}/frames`, null, bearer())
    expect(frames.filter(({ t }) => t === 'done')).toHaveLength(1)
    expect([textOf(frames), frames.at(-1)?.message]).toEqual([text, text])
  })

  test('in those of an answer that was paid for', async () => {
    const price = {
      visibility: 'public' as const,
      x402Enabled: true,
      x402PriceCents: 5,
      x402Network: 'base-sepolia' as const,
    }
    const { id } = (await owner().does('rest', agents.create, { name: 'Of paid lines', ...price })).agent
    const payment = await paymentOf(wallet('payer'), { to: owner().account })
    const lines = await asked(
      `/api/public/agents/${id}/chat`,
      { message: 'Hi', stream: true },
      { 'x-payment': payment },
    )
    expect([kinds(lines), textOf(lines), lines.at(-1)?.message]).toEqual([['chunk', 'done'], text, text])
  })
})
