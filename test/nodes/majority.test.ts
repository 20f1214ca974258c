import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, type Person, person } from '#test/support/people'
import { freshDatabaseUri } from '#test/support/test-servers'

type Command = Record<string, unknown> & { writeConcern?: object; readConcern?: object; txnNumber?: unknown }

/** Options in a MongoDB address that ask for less than a majority. */
const weak = [
  'readConcernLevel=local&w=1&journal=false&readPreference=secondaryPreferred',
  'w=0&retryWrites=true&readPreference=nearest&readPreferenceTags=dc:here',
  'w=2&wtimeoutMS=10000&readConcernLevel=available&retryWrites=false',
]

describe.each(weak)('M42: with %s in the address', (options) => {
  const seen: { name: string; command: Command }[] = []
  let server: Booted
  let owner: Person

  beforeAll(async () => {
    const uri = new URL(freshDatabaseUri() ?? '')
    for (const [name, value] of new URLSearchParams(`${options}&monitorCommands=true`))
      uri.searchParams.append(name, value)
    server = await boot({ environment: { MONGODB_URI: uri.href } })
    owner = await person(server, 'owner')
    mongoose.connection.getClient().on('commandStarted', ({ commandName, command }) => {
      seen.push({ name: commandName, command: command as Command })
    })
    const member = await person(server, 'member')
    const room = await channelOf(owner, member)
    const { message } = await member.does('rest', messages.send, { room, text: 'hello' })
    await member.does('socket', messages.react, { room, id: message.id, emoji: '👍' })
    await owner.does('rest', polls.create, { room, question: 'Which?', options: ['a', 'b'] })
    await owner.does('socket', moderation.act, { room, action: 'ban', target: member.account, duration: '1h' })
    await owner.does('rest', messages.sync, { room, after_seq: 0, limit: 200 })
    await new Promise((resolve) => setTimeout(resolve, 1_200))
  })
  afterAll(() => server.close())

  const named = (...names: string[]) => seen.filter(({ name }) => names.includes(name))

  test('every read is from the primary, with read concern "majority"', () => {
    const reads = named('find', 'aggregate', 'count', 'distinct')
    expect(reads.length).toBeGreaterThan(10)
    for (const { name, command } of reads) {
      expect(command, name).toMatchObject({ readConcern: { level: 'majority' } })
      // The driver sends this instead of `primary` over a direct connection.
      expect([undefined, 'primary', 'primaryPreferred']).toContain(
        (command.$readPreference as { mode: string } | undefined)?.mode,
      )
    }
  })

  test('every write waits until a majority has it on disk', () => {
    const writes = named('insert', 'update', 'delete', 'findAndModify')
    expect(writes.length).toBeGreaterThan(10)
    for (const { name, command } of writes)
      expect(command, `${name} ${command[name]}`).toMatchObject({ writeConcern: { w: 'majority', j: true } })
  })

  test("M45: a step of this machine's clock does not change the clock of the store", () => {
    const { node } = server.apps[0] ?? {}
    const before = Number(node?.now())
    const step = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
    expect(Number(node?.now()) - before).toBeLessThan(1_000)
    step.mockRestore()
  })

  test('M45: the driver does not retry inserts of rows, and the server ends an insert after its time limit', () => {
    const inserts = named('insert').filter(({ command }) => command.insert === 'room_events')
    expect(inserts.length).toBeGreaterThan(3)
    for (const { command } of inserts) {
      expect(command.txnNumber).toBeUndefined()
      expect(command).toMatchObject({ ordered: true, maxTimeMS: 2_000 })
    }
  })
})
