import { recordOf, signed } from '#server/domains/events'
import { loadAccountFacts, saveAccountFacts } from '#server/domains/people/accounts/facts'
import { Accounts } from '#server/domains/people/accounts/model'
import { isRowOf } from '#server/domains/rooms/events/define'
import type { Node } from '#server/kernel/context'
import { lastMessageOf, rowById } from '#server/log/store'
import type { Fact, Records, RoomKey, Row } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { skeletonVersion } from '#shared/kit/looks'
import { type RoomType, roomOfKey } from '#shared/kit/primitives'
import { peersOf } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { messageCreated } from './events/messages.ts'
import { gateToStore, keys, type MessageFact, messageFactOf, type RoomFact, roomFactOf } from './facts.ts'
import { kinds as rooms } from './kinds.ts'
import {
  type AnyModel,
  Bans,
  Epochs,
  Flags,
  Members,
  Mentions,
  Moderators,
  Mutes,
  Polls,
  Questions,
  Reactions,
  RoomFacts,
  Rooms,
  Votes,
  Words,
} from './model.ts'
import { clearPollChanges, writeMessages } from './redaction.ts'
import { forgetTerms, roomTerms } from './search-index.ts'

/** Adds a direct room to the lists of both people. */
export async function ensureDm(key: string, at: number): Promise<void> {
  const { type, id } = roomOfKey(key)
  const peers = peersOf(id)
  if (await Rooms.findOne({ _id: key }, { _id: 1 }).lean()) return
  const now = new Date(at).toISOString()
  const fields = {
    type,
    id,
    ...rooms[type].founded.fields,
    peers,
    member_count: peers.length,
    created_at: now,
    updated_at: now,
  }
  const rows = peers.map((user_address) => ({
    updateOne: {
      filter: { _id: `${key}|member:${user_address}` },
      update: {
        $setOnInsert: { room: key, user_address, role: 'member', joined_at: now, is_active: true, applied_seq: 0 },
      },
      upsert: true,
    },
  }))
  // The room is written last: if it exists, its members do too.
  await Members.bulkWrite(rows, { ordered: false }).catch(ignoreDuplicate)
  await Rooms.updateOne({ _id: key }, { $setOnInsert: fields }, { upsert: true }).catch(ignoreDuplicate)
}

/** Has somebody ever written in this room? */
export const hasMessages = (node: Node, key: string): Promise<boolean> => node.log.ask(key, ({ total }) => total > 0)

export function ignoreDuplicate(error: unknown): void {
  if (!isDuplicate(error)) throw error
}

type KnownRecord = { value: Fact; seq: number }
type SavedChange = { key: string; value: Fact; row: Row }

interface Kind {
  load(room: RoomKey, keys: readonly string[]): Promise<Map<string, KnownRecord>>
  save(room: RoomKey, changes: readonly SavedChange[]): Promise<void>
}

const nothing: KnownRecord = { value: null, seq: 0 }
const subject = (key: string) => key.slice(key.indexOf(':') + 1)

/** Documents named by room and subject, written if the event is newer. */
const followedKind = (
  model: AnyModel,
  toFields: (value: Fact, key: string, row: Row) => object,
  toFact: (document: Record<string, unknown>) => Fact,
  /** Fields that a document without a value has. */
  left: (key: string) => object = () => ({}),
  /** What else the write of a value does. */
  also: object = {},
): Kind => ({
  async load(room, wanted) {
    const documents = (await model
      .find({ _id: { $in: wanted.map((key) => `${room}|${key}`) } })
      .lean()) as unknown as Record<string, unknown>[]
    const found = new Map(documents.map((document) => [document._id as string, document]))
    return new Map(
      wanted.map((key) => {
        const document = found.get(`${room}|${key}`)
        if (!document) return [key, nothing]
        return [key, { value: document.is_active ? toFact(document) : null, seq: document.applied_seq as number }]
      }),
    )
  },
  async save(room, changes) {
    const write = (upsert: boolean) =>
      changes.map(({ key, value, row }) => ({
        updateOne: {
          filter: { _id: `${room}|${key}`, applied_seq: { $lt: row.seq } },
          update: {
            $set: {
              room,
              applied_seq: row.seq,
              is_active: value !== null,
              ...(value === null ? left(key) : toFields(value, key, row)),
            },
            ...also,
          },
          upsert,
        },
      }))
    const save = async (upsert: boolean) => {
      await model.bulkWrite(write(upsert) as never, { ordered: false, throwOnValidationError: true })
    }
    // An existing document is newer and stays, or another node made it meanwhile and it is older.
    await save(true).catch((error: unknown) => {
      if (!isDuplicate(error)) throw error
      return save(false)
    })
  },
})

const strip = ({ _id, room, applied_seq, is_active, ...fields }: Record<string, unknown>): Fact => fields as Fact
const wholeValue = (model: unknown, left?: (key: string) => object): Kind =>
  followedKind(model as AnyModel, (value) => value as object, strip, left)
/** A document without a value names its account too, or an erasure would not find it. */
const ofAccount = (model: unknown): Kind => wholeValue(model, (key) => ({ user_address: subject(key) }))
const singleValue = followedKind(
  RoomFacts as unknown as AnyModel,
  (value) => ({ value }),
  ({ value }) => value as Fact,
)

const roomKind: Kind = {
  async load(room) {
    const { type, id } = roomOfKey(room)
    const document =
      (await Rooms.findOne({ _id: room }).lean()) ?? (isBetweenTwo(type) ? await unopenedDirect(type, id) : null)
    return new Map([[keys.room, document ? { value: roomFactOf(document), seq: document.applied_seq } : nothing]])
  },
  async save(room, changes) {
    for (const { value, row } of changes) {
      const { slug, ...fields } = value as { slug: string | null }
      const terms = roomTerms(fields as unknown as RoomFact)
      const $set = {
        ...fields,
        gate: gateToStore(value as unknown as RoomFact),
        terms,
        skeleton_version: skeletonVersion,
        applied_seq: row.seq,
        ...(slug === null ? {} : { slug }),
      }
      const unset = slug === null ? { $unset: { slug: '' } } : {}
      await Rooms.updateOne({ _id: room, applied_seq: { $lt: row.seq } }, { $set, ...unset })
    }
  },
}

/** A direct room without a row exists as soon as its two people do. */
async function unopenedDirect(type: RoomType, id: string | null) {
  const peers = peersOf(id)
  const known = await Accounts.countDocuments({ _id: { $in: [...peers] } })
  if (peers.length !== 2 || known !== 2) return null
  const then = new Date(0).toISOString()
  const about = { ...rooms[type].founded.fields, member_count: peers.length }
  return new Rooms({ ...about, created_at: then, updated_at: then }).toObject()
}

const messageKind: Kind = {
  async load(room, wanted) {
    const rows = await Promise.all(wanted.map((key) => rowById(room, subject(key))))
    return new Map(wanted.map((key, at) => [key, factOfMessage(rows[at] ?? null)]))
  },
  async save(room, changes) {
    const changed = changes.map(({ key, value, row }) => {
      const { body, n } = value as unknown as MessageFact
      return { id: subject(key), seq: row.seq, body, n, row }
    })
    await writeMessages(room, changed)
    await forgetTerms(
      room,
      changed.flatMap(({ n, row }) => (changesText(row) ? n : [])),
    )
  },
}

/** Does the row change or remove a message's words? */
const changesText = (row: Row): boolean => {
  const record = recordOf(row.type)
  return Boolean(record?.message?.(row, signed(row)) || record?.rewrites?.(row, signed(row))?.takesBack)
}

const factOfMessage = (row: Row | null): KnownRecord =>
  row && isRowOf(row, messageCreated)
    ? {
        value: messageFactOf(row) as unknown as Fact,
        seq: row.applied_seq,
      }
    : nothing

/** The texts of purged messages are removed afterwards, in slices. Until then readers go by this record. */
const purgesKind = followedKind(
  RoomFacts as unknown as AnyModel,
  (value) => ({ value, is_open: true }),
  ({ value }) => value as Fact,
  undefined,
  { $unset: { next_below: '' } },
)

const pollRecord = followedKind(
  Polls as unknown as AnyModel,
  (value) => ({
    poll_id: (value as { poll_id: string }).poll_id,
    poll: value,
    created_at: (value as { created_at: string }).created_at,
  }),
  ({ poll }) => poll as Fact,
  () => ({ poll: null }),
)

/** A deleted poll leaves no words, neither in its record nor in the log. */
const pollKind: Kind = {
  load: pollRecord.load,
  async save(room, changes) {
    for (const { key, value, row } of changes) if (value === null) await clearPollChanges(room, subject(key), row)
    await pollRecord.save(room, changes)
  },
}

const wordsKind: Kind = {
  async load(room) {
    const documents = await Words.find({ room, is_active: true }).sort({ added_at: 1 }).lean()
    return new Map([[keys.words, { value: documents.map((document) => strip(document as never)) as Fact, seq: 0 }]])
  },
  save: async () => {},
}

const clockKind: Kind = {
  async load(room, wanted) {
    const rows = await Promise.all(wanted.map((key) => lastMessageOf(room, subject(key))))
    return new Map(wanted.map((key, at) => [key, clockOf(rows[at] ?? null)]))
  },
  save: async () => {},
}
const clockOf = (row: Row | null): KnownRecord => (row ? { value: { at: row.at }, seq: row.seq } : nothing)

const accountKind: Kind = {
  load: (_room, wanted) => loadAccountFacts(wanted),
  save: (_room, changes) => saveAccountFacts(changes),
}

/** A conversation is in both people's lists from its first message. */
const conversationKind: Kind = {
  load: async (_room, wanted) => new Map(wanted.map((key) => [key, nothing])),
  async save(room, changes) {
    for (const { row } of changes) await ensureDm(room, row.at)
  },
}

/** Answers may have begun already: then the record stays. */
const questionKind: Kind = {
  load: async (_room, wanted) => new Map(wanted.map((key) => [key, nothing])),
  async save(room, changes) {
    const writes = changes.map(({ key, row }) => ({
      updateOne: {
        filter: { _id: subject(key) },
        update: { $setOnInsert: { room, at: new Date(row.at), due_at: new Date(row.at) } },
        upsert: true,
      },
    }))
    await Questions.bulkWrite(writes, { ordered: false }).catch(ignoreDuplicate)
  },
}

const about = (key: string) => {
  const [, first = '', ...rest] = key.split(':')
  return { first, rest: rest.join(':') }
}

const pollAndAccount = (key: string) => ({ poll_id: about(key).first, user_address: about(key).rest })
const messageAndAccount = (key: string) => ({ message_id: about(key).first, user_address: about(key).rest })
const mentioned = (key: string) => ({ user_address: subject(key).slice(0, subject(key).lastIndexOf(':')) })

const kinds: Record<string, Kind> = {
  room: roomKind,
  rules: singleValue,
  pins: singleValue,
  purges: purgesKind,
  words: wordsKind,
  blocks: singleValue,
  invitations: singleValue,
  current_epoch: singleValue,
  epoch: wholeValue(Epochs),
  clock: clockKind,
  conversation: conversationKind,
  question: questionKind,
  message: messageKind,
  role: accountKind,
  suspension: accountKind,
  member: ofAccount(Members),
  ban: ofAccount(Bans),
  mute: ofAccount(Mutes),
  moderator: ofAccount(Moderators),
  word: wholeValue(Words),
  poll: pollKind,
  vote: followedKind(
    Votes as unknown as AnyModel,
    (value, key) => ({ ...pollAndAccount(key), ...(value as object) }),
    ({ options }) => ({ options: options as number[] }),
    pollAndAccount,
  ),
  reacted: followedKind(
    Reactions as unknown as AnyModel,
    (value, key) => ({ ...messageAndAccount(key), ...(value as object) }),
    ({ emojis }) => ({ emojis: emojis as Fact }),
    messageAndAccount,
  ),
  mention: followedKind(
    Mentions as unknown as AnyModel,
    (value, key) => ({ ...mentioned(key), ...(value as object) }),
    ({ seq }) => ({ seq: seq as number }),
    mentioned,
  ),
  flag: followedKind(
    Flags as unknown as AnyModel,
    (value, key, row) => ({
      message_id: subject(key),
      user_address: row.sender,
      flagged_at: new Date(row.at).toISOString(),
      // A new text was not reviewed, whatever was decided about the previous one.
      ...{ state: 'pending', claimed_by: null, decided_by: null },
      ...(value as object),
    }),
    ({ words, content }) => ({ words: words as Fact, content: content as string }),
  ),
}

const byKind = <T>(items: readonly T[], keyOf: (item: T) => string): Map<Kind, T[]> => {
  const groups = new Map<Kind, T[]>()
  for (const item of items) {
    const kind = kinds[keyOf(item).split(':')[0] ?? '']
    if (!kind) continue
    const group = groups.get(kind)
    if (group) group.push(item)
    else groups.set(kind, [item])
  }
  return groups
}

export const records: Records = {
  async load(room, wanted) {
    const groups = [...byKind(wanted, (key) => key)]
    const loaded = await Promise.all(groups.map(([kind, its]) => kind.load(room, its)))
    return new Map(loaded.flatMap((facts) => [...facts]))
  },
  async save(room, changes) {
    const groups = [...byKind(changes, ({ key }) => key)]
    const save = (those: typeof groups) => Promise.all(those.map(([kind, its]) => kind.save(room, its)))
    // Votes are written before the poll that counts them, because its readers read both. A purge is written after the edits that it takes back,
    // because its texts may be removed from then on.
    const isLast = ([kind]: (typeof groups)[number]) => kind === pollKind || kind === purgesKind
    await save(groups.filter((group) => !isLast(group)))
    await save(groups.filter(isLast))
  },
}
