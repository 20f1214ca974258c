import type { Socket } from 'socket.io-client'
import { z } from 'zod'
import { Rooms } from '#server/domains/rooms/model'
import type { moderationActions } from '#shared/api/moderation-acts'
import type { Booted } from './boot.ts'
import { call, connect, heard, signIn, wallet } from './wallet.ts'

export type Place = { type: 'channel' | 'alpha' | 'group' | 'dm'; id: string | null }
export const alpha: Place = { type: 'alpha', id: null }
export const doors = ['socket', 'rest'] as const
export type Door = (typeof doors)[number]

/** An answer of either door. */
export interface Answer {
  status: number
  code: string | null
  /** What it says, where it refuses. */
  text: string | null
  body: Record<string, unknown>
}

/** Somebody who is signed in. */
export interface Somebody {
  account: string
  token: string
  call(route: string, input?: object): Promise<Answer>
  ask(event: string, input: object, namespace?: string): Promise<Answer>
  /** The socket of a namespace: the same one at every call. */
  socket(namespace?: string): Promise<Socket>
  /** A socket of their own choice of node, beside the others. */
  another(namespace: string, node: number): Promise<Socket>
}

const Refused = z.union([
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
])
const Ack = z.object({
  ok: z.boolean(),
  data: z.record(z.string(), z.unknown()).default({}),
  error: z.looseObject({ code: z.string(), message: z.string(), status: z.number() }).optional(),
})

const answered = ({ status, code, body }: Awaited<ReturnType<typeof call>>): Answer => ({
  status,
  code,
  text: Refused.safeParse(body).data ?? null,
  body,
})

export async function asked(socket: Socket, event: string, input: object): Promise<Answer> {
  const { data, error } = Ack.parse(await socket.timeout(10_000).emitWithAck(event, input))
  if (!error) return { status: 200, code: null, text: null, body: data }
  return { status: error.status, code: error.code, text: error.message, body: error }
}

/** What nobody who is not signed in gets past. */
export const nobody = (server: Booted) => async (route: string, input?: object) =>
  answered(await call(server.url, route, input ?? null))

const arrivals = new WeakMap<Booted, number>()

/** Signs somebody in; people are spread over the nodes. */
export async function somebody(server: Booted, name: string): Promise<Somebody> {
  const at = arrivals.get(server) ?? 0
  arrivals.set(server, at + 1)
  const urlOf = (node: number) => server.urls[node % server.urls.length] ?? server.url
  const url = urlOf(at)
  const { address: account, sessionToken: token } = await signIn(url, wallet(name))
  const sockets = new Map<string, Promise<Socket>>()
  const open = async (from: string, namespace: string) => {
    const socket = connect(from, namespace, token)
    await heard(socket, 'session:ready')
    return socket
  }
  const socket = (namespace = '/rooms') => {
    const known = sockets.get(namespace) ?? open(url, namespace)
    sockets.set(namespace, known)
    return known
  }
  return {
    account,
    token,
    call: async (route, input) => answered(await call(url, route, input ?? null, token)),
    ask: async (event, input, namespace) => asked(await socket(namespace), event, input),
    socket,
    another: (namespace, node) => open(urlOf(node), namespace),
  }
}

export const people = <Names extends readonly string[]>(server: Booted, ...names: Names) =>
  Promise.all(names.map((name) => somebody(server, name))) as Promise<{ [At in keyof Names]: Somebody }>

const Created = z.object({ channel: z.object({ id: z.string() }) })
let channels = 0

/** A channel of this owner, with these members. */
export async function channelOf(owner: Somebody, ...members: Somebody[]): Promise<Place & { id: string }> {
  const { body } = await owner.call('POST /api/channels', { name: `Channel ${++channels}` })
  const { id } = Created.parse(body).channel
  await joinAll(id, members)
  return { type: 'channel', id }
}

/** An official channel, which no operation creates. */
export async function officialChannel(...members: Somebody[]): Promise<Place & { id: string }> {
  const id = crypto.randomUUID()
  const now = new Date().toISOString()
  const name = `Official ${++channels}`
  const fields = { type: 'channel', id, name, emoji: '📣', category: 'general', is_official: true }
  await Rooms.create({ _id: `channel:${id}`, ...fields, created_at: now, updated_at: now })
  await joinAll(id, members)
  return { type: 'channel', id }
}

async function joinAll(id: string, members: readonly Somebody[]): Promise<void> {
  for (const member of members) {
    const { status, text } = await member.call(`POST /api/channels/${id}/join`)
    if (status !== 200) throw new Error(`Could not join: ${text}`)
  }
}

/** One act of a moderator, over either door. */
export function act(
  who: Somebody,
  room: Place | null,
  action: (typeof moderationActions)[number],
  more: object = {},
  door: Door = 'socket',
): Promise<Answer> {
  const input = { room, action, ...more }
  return door === 'socket' ? who.ask('mod:act', input) : who.call('POST /api/moderation/act', input)
}

export async function done(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, text, code, body } = await answer
  if (status !== 200) throw new Error(`Refused with ${code}: ${text}`)
  return body
}

export interface Grants {
  canPin?: boolean
  canDelete?: boolean
  canMute?: boolean
  canManageMods?: boolean
}
export const appoint = (by: Somebody, room: Place | null, who: Somebody, patch: Grants = {}) =>
  done(act(by, room, 'promote', { target: who.account, patch }))

export const send = (who: Somebody, room: Place, text: string, more: object = {}) =>
  who.ask('message:send', { room, text, ...more })

const Sent = z.object({ message: z.object({ id: z.string(), seq: z.number() }) })
/** Says something, and gives the message back. */
export const say = async (who: Somebody, room: Place, text: string, more: object = {}) =>
  Sent.parse(await done(send(who, room, text, more))).message

/** The verdict a text would get now. */
export const check = async (who: Somebody, room: Place, text: string) =>
  z
    .object({ verdict: z.looseObject({ ok: z.boolean(), code: z.string().nullable() }) })
    .parse(await done(who.ask('message:check', { room, text }))).verdict

const RoomEvent = z.looseObject({ seq: z.number(), type: z.string(), data: z.record(z.string(), z.unknown()) })
const Frame = z.union([z.object({ events: z.array(RoomEvent) }), RoomEvent.transform((event) => ({ events: [event] }))])

/** Everything a socket hears, as it comes. */
export function hearing(socket: Socket) {
  const all: { name: string; payload: Record<string, unknown> }[] = []
  socket.onAny((name: string, payload: unknown) => {
    all.push({ name, payload: z.record(z.string(), z.unknown()).parse(payload) })
  })
  const named = (name: string) => all.filter((one) => one.name === name).map(({ payload }) => payload)
  return {
    named,
    events: () =>
      all.flatMap(({ name, payload }) =>
        name === 'room:event' || name === 'room:events' ? Frame.parse(payload).events : [],
      ),
  }
}

/** Opens a room on a socket and hears it from now on. */
export async function listenTo(who: Somebody, room: Place, socket?: Socket) {
  const its = socket ?? (await who.socket())
  const heardSoFar = hearing(its)
  const snapshot = await done(asked(its, 'room:join', { room }))
  return { ...heardSoFar, snapshot }
}
