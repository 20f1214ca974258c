// Modes: embedded
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agents } from '#shared/api/agents/agents'
import { api } from '#shared/api/index'
import { operationsOf } from '#shared/kit/contract'
import { fileOf } from '#shared/kit/json-schema'
import { type Booted, boot } from '#test/support/boot'
import { over, type Person, person } from '#test/support/people'
import { call } from '#test/support/wallet'

const Examples = z.record(z.string(), z.object({ input: z.record(z.string(), z.unknown()) }))
const examples = Examples.parse(JSON.parse(readFileSync('docs/examples.json', 'utf8')))
/** What events without an example ask beside the agent. */
const asked = { message: 'Hello?' }

const fieldsOf = (input: z.ZodType) =>
  Object.keys(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }).properties ?? {})

/** Each operation that takes the id of an agent, and the field that holds it. Files come in a form. */
const taking = operationsOf(api).flatMap(({ name, operation }) => {
  const isInPath = /\/agents\/:id\b/.test(operation.http ?? '')
  const field = isInPath ? 'id' : fieldsOf(operation.input).find((one) => /^agent_?id$/i.test(one))
  return field === undefined || fileOf(operation) ? [] : [{ name, operation, field }]
})

let server: Booted
let stranger: Person
let hidden: string

beforeAll(async () => {
  server = await boot({ environment: { BETA: 'open' } })
  const owner = await person(server, 'owner of a private agent')
  stranger = await person(server, 'stranger')
  const price = { x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' as const }
  hidden = (await owner.does('rest', agents.create, { name: 'Hidden', ...price })).agent.id
})
afterAll(() => server.close())

describe('O10: whether a private agent is there is told to nobody', () => {
  test.each(over)('by no operation that takes its id, over %s', async (door) => {
    const at = taking.filter(({ operation }) => (door === 'rest' ? operation.http : operation.socket))
    expect(at.length).toBeGreaterThan(20)
    for (const { name, operation, field } of at) {
      const outcome = (id: string) =>
        stranger.tries(door, operation, { ...(examples[name]?.input ?? asked), [field]: id } as never)
      expect([name, await outcome(hidden)]).toEqual([name, await outcome('made-up')])
    }
  })

  test('to nobody without an account', async () => {
    const doors = ['GET /api/public/agents/:id', 'GET /api/public/agents/:id/chat', 'GET /api/agents/:id/events']
    for (const route of [
      ...doors,
      'POST /api/public/agents/:id/chat',
      `${doors[0]}/history?sessionId=made-up-session`,
    ]) {
      const body = route.startsWith('POST') ? asked : null
      const outcome = async (id: string) => {
        const { status, body: answered } = await call(server.url, route.replace(':id', id), body)
        return { status, answered }
      }
      expect([route, await outcome(hidden)]).toEqual([route, await outcome('made-up')])
    }
  })
})
