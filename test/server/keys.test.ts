// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { api } from '#shared/api/index'
import { moderation } from '#shared/api/moderation'
import { polls } from '#shared/api/polls'
import { type Operation, operationsOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { type Body, channelOf, over, type Person, person, say } from '#test/support/people'

/** What is there to act on. */
interface Scene {
  id: string
  pollId: string
}

let server: Booted
let owner: Person
let member: Person
let room: RoomRef
beforeAll(async () => {
  server = await boot()
  owner = await person(server, 'keys-owner')
  member = await person(server, 'keys-member')
  room = await channelOf(owner, member)
})
afterAll(() => server.close())

async function scene(): Promise<Scene> {
  const { id } = await say(owner, room, 'something')
  const { poll } = await owner.does('rest', polls.create, { room, question: 'Tea?', options: ['yes', 'no'] })
  return { id, pollId: poll.id }
}

const acts: { [name: string]: (scene: Scene) => Body } = {
  'messages.send': () => ({ text: 'hello' }),
  'messages.edit': ({ id }) => ({ id, text: 'hello' }),
  'messages.remove': ({ id }) => ({ id }),
  'messages.react': ({ id }) => ({ id, emoji: '👍' }),
  'messages.pin': ({ id }) => ({ id, pinned: true }),
  'polls.create': () => ({ question: 'Coffee?', options: ['yes', 'no'] }),
  'polls.vote': ({ pollId }) => ({ pollId, optionIndex: 0 }),
  'rooms.setTopic': ({ id }) => ({ topic: `About ${id}` }),
  'moderation.act': () => ({ action: 'warn', target: member.account }),
}

/** All that act in the log of a room under a key of the caller. */
const keyed = operationsOf(api).filter(
  ({ operation: { input, idempotency, ...declared } }) =>
    (idempotency?.kept === 'log' && 'room' in input.shape) || declared.socket === moderation.act.socket,
)
const doorsOf = ({ http, socket }: Operation) => over.filter((door) => (door === 'rest' ? http : socket))

describe('N40: a key that one act has used is refused for every other, over both doors', () => {
  test.each(keyed)('$name', async ({ name, operation }) => {
    const inputOf = async (of: (typeof keyed)[number], key: string) => {
      const said = acts[of.name]?.(await scene()) ?? expect.fail(`${of.name} has no input here`)
      return { room, ...said, [of.operation.idempotency?.key ?? '']: key } as never
    }
    const key = `used-by-${name}`
    await owner.does('rest', operation, await inputOf({ name, operation }, key))
    for (const other of keyed.filter((one) => one.name !== name))
      for (const door of doorsOf(other.operation)) {
        const refused = await owner.refused(door, other.operation, await inputOf(other, key))
        expect(refused, `${other.name} over ${door}`).toMatchObject({ code: 'CONFLICT', status: 409 })
      }
  })
})
