import { z } from 'zod'
import type { Person } from './client.ts'
import type { Effect, LogRow } from './history.ts'
import { insist, sdkOf } from './insist.ts'
import type { Room } from './sender.ts'

const Rules = z.object({ version: z.number(), slow_mode_seconds: z.number(), read_only: z.boolean() })
const Row = z.object({
  _id: z.string(),
  room: z.string(),
  seq: z.number(),
  epoch: z.string(),
  type: z.string(),
  n: z.number().optional(),
  sender: z.string(),
  target: z.string().nullish(),
  cid: z.string(),
  at: z.number(),
  body: z.record(z.string(), z.unknown()),
})

/** A database, read without the servers. */
export interface Documents {
  collection(name: string): { find(filter: object): { toArray(): Promise<object[]> } }
}

/** The log of a room as stored in the database. */
export async function readStore(store: Documents, room: Room): Promise<LogRow[]> {
  const found = await store.collection('room_events').find({ room: room.key }).toArray()
  return found.map((document) => rowOf(Row.parse(document))).sort((one, other) => one.seq - other.seq)
}

function rowOf(row: z.infer<typeof Row>): LogRow {
  const { _id: id, room, seq, epoch, sender, cid, at } = row
  return { id, room, seq, epoch, sender, cid, at, effect: effectOf(row) }
}

const Body = z.object({
  text: z.string().optional(),
  rules: Rules.optional(),
  id: z.string().optional(),
  action: z.string().optional(),
  member_count: z.number().optional(),
})

function effectOf({ type, n, sender, target, body }: z.infer<typeof Row>): Effect {
  const { text = '', rules, id = '', action, member_count } = Body.parse(body)
  return effect(type, { n: n ?? 0, text, rules, id, action, who: target ?? sender, members: member_count ?? null })
}

const Page = z.object({
  events: z.array(
    z.object({
      seq: z.number(),
      epoch: z.string(),
      type: z.string(),
      at: z.string(),
      actor: z.object({ id: z.string() }),
      data: z.object({
        message: z.object({ id: z.string(), client_msg_id: z.string(), content: z.string(), n: z.number() }).optional(),
        rules: Rules.optional(),
        id: z.string().optional(),
        action: z.string().optional(),
        target: z.object({ id: z.string() }).optional(),
        member: z.object({ id: z.string() }).optional(),
        members_count: z.number().optional(),
      }),
    }),
  ),
  next_after_seq: z.number(),
  complete: z.boolean(),
})

/** The log of a room as a server returns it by REST, page by page: the only access to an embedded store in use. */
export async function readPages(url: string, { token }: Person, room: Room): Promise<LogRow[]> {
  const rows: LogRow[] = []
  const { messages } = sdkOf(url, token)
  for (let after_seq = 0; ; ) {
    const asked = { room: { type: 'channel', id: room.id }, after_seq, limit: 200 } as const
    const page = Page.parse(await insist(() => messages.sync(asked)))
    for (const { seq, epoch, type, at, actor, data } of page.events) {
      const { message, rules, id = '', action, target, member, members_count } = data
      rows.push({
        ...{ room: room.key, seq, epoch, sender: actor.id, at: Date.parse(at) },
        id: message?.id ?? `${room.key} ${seq}`,
        cid: message?.client_msg_id ?? null,
        effect: effect(type, {
          ...{ n: message?.n ?? 0, text: message?.content ?? '', rules, id, action },
          who: target?.id ?? member?.id ?? actor.id,
          members: members_count ?? null,
        }),
      })
    }
    after_seq = page.next_after_seq
    if (page.complete) return rows
  }
}

interface Carried {
  n: number
  text: string
  rules: z.infer<typeof Rules> | undefined
  id: string
  action: string | undefined
  who: string
  members: number | null
}

function effect(type: string, { n, text, rules, id, action, who, members }: Carried): Effect {
  switch (type) {
    case 'message.created':
      return { kind: 'message', n, text }
    case 'rules.updated':
      return rules ? { kind: 'rules', rules } : { kind: 'other' }
    case 'message.pinned':
      return { kind: 'pinned', message: id }
    case 'message.unpinned':
      return { kind: 'unpinned', message: id }
    case 'member.joined':
      return { kind: 'joined', who, members }
    case 'member.left':
      return { kind: 'left', who, members }
    case 'member.removed':
      return { kind: 'removed', who, members }
    case 'moderation.applied':
      return action === 'ban' || action === 'unban' || action === 'mute' || action === 'unmute'
        ? { kind: action, who, members }
        : { kind: 'other' }
    default:
      return { kind: 'other' }
  }
}
