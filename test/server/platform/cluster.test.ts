// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Nodes } from '#server/domains/platform/cluster/model'
import { cluster } from '#shared/api/platform/cluster'
import { messages } from '#shared/api/rooms/messages'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, type Person, person } from '#test/support/people'
import { nodesUnderTest } from '#test/support/test-servers'
import { wallet } from '#test/support/wallet'

let server: Booted
let admin: Person
let user: Person

beforeAll(async () => {
  server = await boot({ environment: { ADMINS: wallet('operator').address } })
  admin = await person(server, 'operator')
  user = await person(server, 'somebody')
})
afterAll(() => server.close())

const ids = () => server.apps.map(({ node }) => node.id).toSorted()
const asked = () => admin.does('rest', cluster.nodes, {})
const patient = { timeout: 10_000, interval: 300 }

describe('the figures of the cluster', () => {
  test('name every node, whichever is asked', async () => {
    await expect.poll(async () => (await asked()).nodes.map(({ id }) => id).toSorted(), patient).toEqual(ids())
    const { answered_by, nodes, store } = await asked()
    expect(ids()).toContain(answered_by)
    expect(store).toBe(server.apps[0]?.node.alone ? 'embedded' : 'mongodb')
    for (const node of nodes) {
      expect(node).toMatchObject({ state: 'live', process: process.pid, version: expect.stringMatching(/^\d+\.\d+\./) })
      expect(node.memory_mb).toBeGreaterThan(10)
    }
  })

  test('count connections, and messages where they were sent', async () => {
    const total = async (figure: 'connections' | 'messages_per_second' | 'rooms') =>
      (await asked()).nodes.reduce((sum, node) => sum + node[figure], 0)
    const before = await total('connections')
    await user.line()
    await expect.poll(() => total('connections'), patient).toBe(before + 1)

    const room = await channelOf(user)
    for (let at = 0; at < 20; at++) await user.does('socket', messages.send, { room, text: `figure ${at}` })
    await expect.poll(() => total('messages_per_second'), patient).toBeGreaterThan(0)
    await expect.poll(() => total('rooms'), patient).toBeGreaterThan(0)
  })

  test('say which part is away', async () => {
    const metrics = server.apps[0]?.node.metrics
    metrics?.degraded('redis', true)
    await expect.poll(async () => (await asked()).nodes[0]?.degraded, patient).toEqual(['redis'])
    metrics?.degraded('redis', false)
    await expect.poll(async () => (await asked()).nodes[0]?.degraded, patient).toEqual([])
  })

  // Where the store is one node's own, there is no other to fall silent.
  if (nodesUnderTest > 1)
    test('tell of a node that fell silent', async () => {
      const [known] = await Nodes.find({}).lean()
      const lost = { ...known, _id: 'lost', seen_at: new Date(Date.now() - 60_000) }
      await Nodes.updateOne({ _id: 'lost' }, { $set: { ...lost } }, { upsert: true })
      expect((await asked()).nodes.find(({ id }) => id === 'lost')).toMatchObject({ state: 'silent' })
    })

  test('are for admins alone', async () => {
    expect(await user.refused('rest', cluster.nodes, {})).toMatchObject({ code: 'FORBIDDEN', status: 403 })
  })
})
