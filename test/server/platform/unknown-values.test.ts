// Modes: embedded
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { Agents } from '#server/domains/agents/agent-state/model'
import { checkedOutput } from '#server/kernel/invoke'
import { agents } from '#shared/api/agents/agents'
import { boot } from '#test/support/boot'
import { over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const production = { NODE_ENV: 'production', SESSION_KEYS: `k1:${randomBytes(32).toString('base64')}` }
const logged: object[] = []
const note = (fields: object, message: string) => void logged.push({ message, ...fields })

async function served(environment: Record<string, string>) {
  const server = await boot({
    nodes: 1,
    environment: { BETA: 'open', SUPER_ADMINS: wallet('root').address, ...environment },
    change: (platform) => ({ ...platform, logger: { info: note, warn: note, error: note } }),
  })
  onTestFinished(() => server.close())
  return server
}

/** Three agents, in one of which a node of the next version has stored what this one does not know. */
async function threeOf(owner: Person): Promise<string[]> {
  const ids: string[] = []
  for (const name of ['One', 'Two', 'Three']) ids.push((await owner.does('rest', agents.create, { name })).agent.id)
  await Agents.updateOne({ _id: ids[1] ?? '' }, { $set: { visibility: 'a-later-one' as 'private' } })
  return ids
}

test('a record with a value of the next version is left out of lists, which are answered, and is told to operators', async () => {
  const server = await served(production)
  const owner = await person(server, 'root')
  const [first, second, third] = await threeOf(owner)
  for (const door of over) {
    const { agents: listed } = await owner.does(door, agents.list, {})
    expect(listed.map(({ id }) => id)).toEqual([third, first])
    expect(await owner.refused(door, agents.get, { id: second ?? '' })).toMatchObject({ code: 'INTERNAL_ERROR' })
  }
  const metrics = await (await fetch(`${server.opsUrl}/metrics`)).text()
  expect(metrics).toContain('plaza_items_left_out_total{operation="agents.list"} 2')
  const line = { message: 'an item was left out of a list', operation: 'agents.list', list: 'agents' }
  expect(logged).toContainEqual({ ...line, path: 'visibility' })
  expect(JSON.stringify(logged)).not.toContain('a-later-one')
})

test('all items of a list that are not known are left out of it, and of each list of an answer its own', () => {
  const item = z.object({ kind: z.enum(['a', 'b']), id: z.number() })
  const schema = z.object({ one: z.array(item), two: z.array(item) })
  const [known, other, unknown] = [
    { kind: 'a', id: 1 },
    { kind: 'b', id: 2 },
    { kind: 'z', id: 'three' },
  ]
  const told: string[] = []
  const answer = { one: [unknown, known, unknown, other], two: [known, unknown] }
  expect(checkedOutput(schema, answer, ({ list, path }) => told.push(`${list} ${path}`))).toEqual({
    one: [known, other],
    two: [known],
  })
  expect(new Set(told)).toEqual(new Set(['one kind', 'one id', 'two kind', 'two id']))
})

test('outside production such an answer fails as a whole, as it may be a fault of ours', async () => {
  const server = await served({})
  const owner = await person(server, 'root')
  await threeOf(owner)
  for (const door of over) expect((await owner.refused(door, agents.list, {})).code).toBe('INTERNAL_ERROR')
})

test.each([
  [
    'what is numbered',
    {
      rows: [
        { kind: 'a', seq: 1 },
        { kind: 'z', seq: 2 },
      ],
    },
  ],
  ['what is no list', { row: { kind: 'z' } }],
  ['an item within an item', { row: { rows: [{ kind: 'z' }] } }],
  ['a list that is none', { rows: { kind: 'a' } }],
])('nothing is left out of %s', (_what, answer) => {
  const item = z.object({ kind: z.enum(['a', 'b']) })
  const row = item.partial().extend({ rows: z.array(item).optional() })
  const schema = z.object({ rows: z.array(item).optional(), row: row.optional() })
  expect(() => checkedOutput(schema, answer, () => {})).toThrow(z.ZodError)
})
