import { createECDH } from 'node:crypto'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { api } from '#shared/api/index'
import { profiles } from '#shared/api/people/profiles'
import { rooms } from '#shared/api/rooms/rooms'
import { type Operation, operationsOf } from '#shared/kit/contract'
import { canonicalOperations } from '#shared/kit/json-schema'
import { dmOf } from '#shared/kit/primitives'
import { place, restTargets, samples, type Target } from '#test/hostile/generator'
import type { frugalClient } from './frugal-client.ts'
import { exampleOf, type Inputs, inputsOf } from './inputs.ts'
import { befriend, channelOf, eventOf, groupOf, type Person, say } from './people.ts'
import { times } from './times.ts'

/** An account that calls every operation, with what its calls name. */
export interface Stranger extends Person {
  inputs: Inputs
  room: { type: 'channel'; id: string }
}
export interface Called {
  id: string
  name: string
  operation: Operation
  /** Null where it is open over a socket alone. */
  target: Target | null
}

/** Rooms that all of these accounts are in: channels with a starred message each, others that are silent, and groups. */
interface Belongings {
  channels: number
  silentChannels: number
  groups: number
}

const atOnce = 8

/** These accounts, in so many rooms each, with the others as friends and starred messages; and an admin, who is in one of them. */
export async function strangersOf(
  people: readonly Person[],
  others: readonly Person[],
  { channels, silentChannels, groups }: Belongings,
  admin: Person,
): Promise<{ strangers: Stranger[]; boss: Stranger }> {
  const run = fewAtOnce(atOnce)
  const each = <T>(count: number, work: (at: number) => Promise<T>) =>
    Promise.all(times(count, (at) => run(() => work(at))))
  const inTurn = (at: number) =>
    times(people.length, (one) => people[(at + one) % people.length]) as [Person, ...Person[]]
  const channelIds = await each(channels, async (at) => {
    const room = await channelOf(...inTurn(at), ...others.slice(0, 1))
    const { id: messageId } = await say(inTurn(at)[1] as Person, room, 'What is marked')
    for (const who of people)
      await who.rest('POST /api/messages/starred', { messageId, messageType: 'channel', channelId: room.id })
    return room.id
  })
  await each(silentChannels, (at) => channelOf(...inTurn(at)))
  const groupIds: string[] = []
  for (let at = 0; at < groups; at++) groupIds.push((await groupOf(...inTurn(at))).id)
  await each(others.length, async (at) => {
    const other = others[at] as Person
    for (const who of people) {
      await befriend(who, other)
      await who.does('rest', rooms.openDm, { recipientAddress: other.account })
    }
  })
  const strangerOf = async (who: Person, at: number): Promise<Stranger> => {
    const [channelId, groupId, other] = [channelIds[at] ?? '', groupIds[at] ?? '', others[at]?.account ?? '']
    const room = { type: 'channel', id: channelId } as const
    const message = await say(who, room, 'What is asked about')
    const key = createECDH('prime256v1').generateKeys('base64url')
    const { widget } = await who.does('rest', profiles.arrange, { widget_type: 'guestbook', config: {} })
    const guestbook = { owner: who.account, widget_id: widget?.id ?? '' }
    const ids = { channelId, groupId, chatId: channelId, messageId: message.id, ...guestbook }
    const fields = { room, ...ids, p256dh: key, public_key: key }
    const conversation = dmOf(who.account, other)
    return { ...who, room, inputs: inputsOf({ account: who.account, other, conversation, fields }) }
  }
  // Whom an admin erases is known to none of the others.
  const unknown = people.length
  await admin.does('rest', rooms.join, { room: { type: 'channel', id: channelIds[unknown] ?? '' } })
  return { strangers: await Promise.all(people.map(strangerOf)), boss: await strangerOf(admin, unknown) }
}

type Client = ReturnType<typeof frugalClient>

/** The status of an operation's answer to this account, over HTTP where it is open there. */
export async function callAs(who: Stranger, { id, name, operation, target }: Called, client: Client): Promise<number> {
  const example = exampleOf(id, name)
  const sample = () => samples(operation.input, { room: who.room, id: who.room.id })[0] ?? {}
  const input = example ? who.inputs.of(name, operation, example) : sample()
  if (!target) {
    const { namespace, event } = eventOf(operation)
    const answer = await who.ask(event, input, namespace)
    return answer.ok ? 200 : answer.error.status
  }
  const { path, body } = place(target, input)
  const { status, text } = await client.ask({ ...target, path }, who.token, body)
  if (status === 200 && !operation.stream) who.inputs.note(name.split('.')[0] ?? '', JSON.parse(text || '{}'))
  return status
}

/** These leave less for the others. */
const ends =
  /remove|archive|leave|kick|forget|revoke|unlink|withdraw|decline|release|cancel|\.end$|block$|suspend|changeSetting|handOver/
const endsRooms = /^rooms\.(leave|archive|handOver)/
/** Begins a job of seconds, which would count as the cost of what is called next. */
const goesOn = /^ownData\.beginExport/
const endsSessions = /^sessions\.end|^identity\.(logout|refresh)/
/** 0 makes something, 1 reads, 2 takes something away, 3 a room, 4 the time of others, and 5 the session. */
export const orderOf = ({ name, target }: Called) => {
  if (endsSessions.test(name)) return 5
  if (goesOn.test(name)) return 4
  if (endsRooms.test(name)) return 3
  return ends.test(name) ? 2 : target?.method === 'GET' ? 1 : 0
}

const overHttp = canonicalOperations(api).map(({ fixed, ...one }): Called => {
  const target = restTargets.find(({ name, fixed: own }) => name === one.name && own?.type === fixed?.type)
  return { ...one, target: target ?? null }
})
const overSockets = operationsOf(api).flatMap(({ name, operation }): Called[] =>
  overHttp.some((one) => one.name === name) ? [] : [{ id: name, name, operation, target: null }],
)
/** Every operation of the contract, each before those that take away what it needs. */
export const everyCall = [...overHttp, ...overSockets].toSorted((one, other) => orderOf(one) - orderOf(other))
