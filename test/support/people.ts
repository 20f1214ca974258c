import type { Socket } from 'socket.io-client'
import { expect } from 'vitest'
import { z } from 'zod'
import { moderation } from '#shared/api/moderation/moderation'
import { friends } from '#shared/api/people/friends'
import { groupInvitations } from '#shared/api/rooms/group-invitations'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { CallOf, Event, Operation, OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import type { Booted } from './boot.ts'
import { enter } from './enter.ts'
import { follow, type Line } from './line.ts'
import { call, connect, wallet } from './wallet.ts'

/** Both doors, for tests that are run over each with one text. */
export const over = ['socket', 'rest'] as const
export type Door = (typeof over)[number]

const Refused = z.object({
  code: z.string(),
  status: z.number(),
  message: z.string(),
  retryAfter: z.number().optional(),
  verdict: z.record(z.string(), z.unknown()).optional(),
  details: z.record(z.string(), z.unknown()).optional(),
})
export type Refusal = z.infer<typeof Refused>
const Acked = z.union([
  z.object({ ok: z.literal(true), data: z.unknown() }),
  z.object({ ok: z.literal(false), error: Refused }),
])
const Coded = z.object({ error: z.record(z.string(), z.unknown()) }).transform(({ error }) => error)
const Texted = z
  .looseObject({ error: z.string() })
  .transform(({ error, ...rest }): Record<string, unknown> => ({ ...rest, message: error }))

export type Answer<Data = unknown> = { ok: true; data: Data } | { ok: false; error: Refusal }
/** `200`, or the status and the code of a refusal. */
export function outcomeOf(answer: Answer | { status: number; code: string | null }): string {
  if ('ok' in answer) return answer.ok ? '200' : outcomeOf(answer.error)
  return answer.code === null ? `${answer.status}` : `${answer.status} ${answer.code}`
}
export type Body = Record<string, unknown>

export interface Person {
  account: string
  token: string
  refreshToken: string
  /** The node this person is a client of. */
  url: string
  rest(route: string, body?: object | null, headers?: object): ReturnType<typeof call>
  /** A new, ready connection; to another node if one is named. */
  socket(namespace: string, node?: string): Promise<Line>
  /** Asks over one connection that stays, on `/rooms` or another namespace. */
  ask(event: string, input: object, namespace?: string): Promise<Answer>
  /** The connection that `ask` uses. */
  line(namespace?: string): Promise<Line>
  /** What the operation answers at its own path or event, or over this connection; fails the test where it is refused. */
  does<O extends Operation>(door: Door | Line, operation: O, input: CallOf<O>): Promise<OutputOf<O>>
  /** The refusal; fails the test where there is none. */
  refused<O extends Operation>(door: Door | Line, operation: O, input: CallOf<O>): Promise<Refusal>
  /** The answer or the refusal. */
  tries<O extends Operation>(door: Door | Line, operation: O, input: CallOf<O>): Promise<Answer<OutputOf<O>>>
}

let made = 0

/** Somebody with a wallet of this name, signed in as `boot` was told; each is a client of the next node. */
export const person = (server: Booted, name: string, url = server.urls[made++ % server.urls.length] ?? server.url) =>
  personAt(url, name)

/** The same at one address; the headers go with the sign-in and with every request. */
export const personAt = async (url: string, name: string, own = {}): Promise<Person> =>
  personWith(url, await enter(url, wallet(name), own), own)

/** Somebody who has signed in before, at this node or another. */
export function personWith(
  url: string,
  { sessionToken: token, refreshToken, address: account }: Awaited<ReturnType<typeof enter>>,
  own = {},
): Person {
  const lines = new Map<string, Promise<Line>>()
  const rest = (route: string, body: object | null = null, headers = {}) =>
    call(url, route, body, token, { ...own, ...headers })
  const socket = (namespace: string, node = url) => greeted(connect(node, namespace, token))
  const line = (namespace = '/rooms') => {
    const own = lines.get(namespace) ?? socket(namespace)
    lines.set(namespace, own)
    return own
  }
  const ask: Person['ask'] = async (event, input, namespace) => askOver(await line(namespace), event, input)
  const tell = (door: Door | Line, operation: Operation, input: object): Promise<Answer> => {
    if (door === 'rest') return tellRest(rest, operation, input)
    const { namespace, event } = eventOf(operation)
    return door === 'socket' ? ask(event, input, namespace) : askOver(door, event, input)
  }
  const tries: Person['tries'] = async (door, operation, input) => {
    const answer = await tell(door, operation, input)
    if (!answer.ok) return answer
    const data = operation.stream ? answer.data : operation.output.parse(answer.data)
    return { ok: true, data: data as OutputOf<typeof operation> }
  }
  return {
    account,
    token,
    refreshToken,
    url,
    rest,
    socket,
    line,
    ask,
    tries,
    async does(door, operation, input) {
      const answer = await tries(door, operation, input)
      if (!answer.ok) throw new Error(`${operation.summary} ${JSON.stringify(answer.error)}`)
      return answer.data
    },
    async refused(door, operation, input) {
      const answer = await tries(door, operation, input)
      if (answer.ok) throw new Error(`Not refused: ${operation.summary} ${JSON.stringify(answer.data)}`)
      return answer.error
    },
  }
}

/** These people, each as `person` makes them. */
export const people = <const Names extends readonly string[]>(server: Booted, ...names: Names) =>
  Promise.all(names.map((name) => person(server, name))) as Promise<{ -readonly [At in keyof Names]: Person }>

const askOver = async ({ socket }: Line, event: string, input: object): Promise<Answer> =>
  Acked.parse(await socket.timeout(15_000).emitWithAck(event, input))

async function greeted(socket: Socket): Promise<Line> {
  const line = follow(socket)
  await line.hears('session:ready')
  return line
}

/** Where an operation is asked over a socket: on the namespace of its declaration, or on `/rooms` where that is any. */
export function eventOf({ socket, summary }: Operation): { namespace: string; event: string } {
  const [namespace = '', event = ''] = socket?.split(' ') ?? []
  if (event === '') throw new Error(`No socket event: ${summary}`)
  return { namespace: namespace === '*' ? '/rooms' : namespace, event }
}

async function tellRest(rest: Person['rest'], operation: Operation, input: object): Promise<Answer> {
  const { route, body } = requestOf(operation.http ?? '', input)
  const { status, body: answered } = await rest(route, body)
  if (status === 200) return { ok: true, data: answered }
  return { ok: false, error: Refused.parse({ ...z.union([Coded, Texted]).parse(answered), status }) }
}

/** The path of an operation for this input, with what the path does not say in the query or the body. */
export function requestOf(route: string, input: object): { route: string; body: object | null } {
  const { room, ...fields } = input as { room?: { type: string; id?: string | null } } & Body
  const place = room && (room.id ? `${room.type}/${encodeURIComponent(room.id)}` : room.type)
  const named = new Set<string>()
  const path = route.replace('{room}', place ?? '').replace(/:([a-zA-Z_]+)/g, (_, name: string) => {
    named.add(name)
    return encodeURIComponent(String(fields[name]))
  })
  const isInPath = route.includes('{room}')
  const rest = Object.entries(isInPath ? fields : input).filter(
    ([name, value]) => !named.has(name) && value !== undefined,
  )
  if (!route.startsWith('GET')) return { route: path, body: Object.fromEntries(rest) }
  const query = new URLSearchParams(rest.map(([name, value]) => [name, String(value)])).toString()
  return { route: query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path, body: null }
}

let founded = 0

/** A new channel of the owner's, with these members. */
export async function channelOf(owner: Person, ...members: readonly Person[]): Promise<RoomRef & { id: string }> {
  const name = `Room ${process.pid} ${++founded}`
  const { channel } = await owner.does('rest', rooms.createChannel, { name })
  const room = { type: 'channel', id: channel.id } as const
  for (const member of members) await member.does('rest', rooms.join, { room })
  return room
}

/** Makes the two friends. */
export async function befriend(one: Person, other: Person): Promise<void> {
  const { request } = await one.does('rest', friends.request, { toAddress: other.account })
  await other.does('rest', friends.accept, { requestId: request.id })
}

/** Accepts the invitation to this group. */
export async function acceptInto(who: Person, group: string): Promise<void> {
  const { invitations } = await who.does('rest', groupInvitations.list, {})
  const id = invitations.find(({ group_id }) => group_id === group)?.id ?? 'none'
  await who.does('rest', groupInvitations.accept, { id })
}

/** A new group of the admin's, with these members. */
export async function groupOf(admin: Person, ...members: readonly Person[]): Promise<RoomRef & { id: string }> {
  const memberAddresses = members.map(({ account }) => account)
  const { group, invited } = await admin.does('rest', rooms.createGroup, { name: 'A group', memberAddresses })
  for (const member of members) if (invited.includes(member.account)) await acceptInto(member, group.id)
  return { type: 'group', id: group.id }
}

export const alpha: RoomRef = { type: 'alpha', id: null }

/** Says something over a socket, and gives the message back. */
export const say = async (who: Person, room: RoomRef, text: string, more: Partial<CallOf<typeof messages.send>> = {}) =>
  (await who.does('socket', messages.send, { room, text, ...more })).message

/** The verdict that a text would get now. */
export const check = async (who: Person, room: RoomRef, text: string) =>
  (await who.does('socket', messages.check, { room, text })).verdict

/** Opens a room on a connection, on the one that asks where none is given, which forgets all it was told before. */
export async function listenTo(who: Person, room: RoomRef, given?: Line): Promise<Line> {
  const line = given ?? (await who.line())
  line.forget()
  await who.does(line, messages.join, { room })
  return line
}

/** Lets a moderator act, over a socket. */
export const moderates = (who: Person, act: CallOf<typeof moderation.act>) => who.does('socket', moderation.act, act)

/** The refusal of a moderator's act, over a socket. */
export const mayNot = (who: Person, act: CallOf<typeof moderation.act>) => who.refused('socket', moderation.act, act)

/** Ciphertext of a length, as a direct message carries it. */
export const sealed = (bytes = 40): string => Buffer.alloc(bytes, 7).toString('base64')

/** The path of a file, as its upload was answered: its address without `/files/` and the bucket. */
export const pathOf = (url: string): string => new URL(url).pathname.split('/').slice(3).join('/')

/** Fails if an event of this kind arrives within the time. */
export async function staysSilent(line: Line, event: Event, milliseconds = 1_200): Promise<void> {
  const before = line.all(event).length
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  expect(line.all(event).slice(before)).toEqual([])
}
