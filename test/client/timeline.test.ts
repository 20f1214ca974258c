import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyEvents, applySnapshot, emptyRoom } from '#client/sdk/timeline'
import type { RoomState } from '#client/sdk/types'
import { defaultRules } from '#shared/api/moderation/verdict'
import type { Snapshot } from '#shared/api/rooms/listening'
import type { Message } from '#shared/api/rooms/message'
import type { RoomEvent, RoomEventData } from '#shared/api/rooms/room-events'
import { messageRow, room } from './tiny-server.ts'

const people = ['ada', 'bob', 'cyd']
const kinds = [
  ...(['say', 'say', 'say', 'edit', 'delete', 'pin', 'unpin', 'react', 'purge'] as const),
  ...(['mute', 'unmute', 'promote', 'rules', 'join', 'unheard'] as const),
]
interface Act {
  do: (typeof kinds)[number]
  who: string
  which: number
}
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.record({ do: fc.constantFrom(...kinds), who: fc.constantFrom(...people), which: fc.nat(1_000) }),
  { maxLength: 60 },
)

/** A room of the server: the log as its live events, and the current rows. */
class Model {
  readonly live: RoomEvent[] = []
  readonly rows: Message[] = []
  pins: string[] = []
  members = 3
  rulesVersion = 0
  me: Snapshot['me'] = { ...emptyRoom(room).me, role: 'member' }

  act({ do: what, who, which }: Act): unknown {
    const standing = this.rows.filter(({ is_deleted }) => !is_deleted)
    const row = standing[which % Math.max(1, standing.length)]
    if (what === 'say') return this.#say(who, which)
    if (what === 'rules')
      return this.#tell(
        'rules.updated',
        {
          version: ++this.rulesVersion,
          diff: {},
          rules: { ...this.rules, version: this.rulesVersion, updated_by: who, updated_at: null },
        },
        who,
      )
    if (what === 'join')
      return this.#tell(
        'member.joined',
        { member: { id: who, name: who, role: 'member' }, members_count: ++this.members },
        who,
      )
    if (what === 'unheard') return this.#tell('words.updated', {}, who)
    if (what === 'mute' || what === 'unmute') return this.#mute(what, who)
    if (what === 'promote') return this.#promote(who, which)
    if (what === 'purge') return this.#purge(who)
    return row && this.#touch(what, row, who, which)
  }

  get rules() {
    return { ...defaultRules, max_message_length: this.rulesVersion }
  }

  /** The log as a page of catch-up: with the current rows of messages. */
  get page(): RoomEvent[] {
    return this.live.map((event) => {
      if (event.type !== 'message.created' && event.type !== 'message.edited') return event
      const row = this.rows.find(({ id }) => id === event.data.message.id)
      return row ? { ...event, data: { message: { ...row } } } : event
    })
  }

  snapshot(): Snapshot {
    const pins = this.pins.flatMap((id) => this.rows.filter((row) => row.id === id).map((row) => ({ ...row })))
    const head = { room, epoch: 'first', head_seq: this.live.length, from_seq: 1, complete: true }
    const state = { rules: this.rules, rules_version: this.rulesVersion, me: this.me, pins }
    return { ...head, ...state, events: this.page, members_count: this.members, online: 1 }
  }

  #tell<T extends RoomEvent['type']>(type: T, data: RoomEventData<T>, who: string): void {
    const seq = this.live.length + 1
    const actor = { id: who, name: who, role: null, isAgent: false }
    this.live.push({
      room,
      epoch: 'first',
      seq,
      type,
      at: `at ${seq}`,
      actor,
      data: structuredClone(data),
    } as RoomEvent)
  }

  #say(who: string, which: number): void {
    const seq = this.live.length + 1
    const row = messageRow({
      seq,
      n: this.rows.length + 1,
      sender: who,
      content: `text ${which}`,
      client_msg_id: `${seq}`,
    })
    const answered = this.rows.filter(({ is_deleted }) => !is_deleted)[which % 5]
    if (answered) {
      const { id, sender_address, content, message_type } = answered
      Object.assign(row, { reply_to_id: id, reply_to: { id, sender_address, content, message_type } })
    }
    this.rows.push(row)
    if (who !== 'bob') this.me = { ...this.me, unread: this.me.unread + 1 }
    this.#tell('message.created', { message: row }, who)
  }

  #touch(what: Act['do'], row: Message, who: string, which: number): void {
    const at = `at ${this.live.length + 1}`
    const { id } = row
    if (what === 'edit') {
      Object.assign(row, { content: `edit ${which}`, version: row.version + 1, is_edited: true, edited_at: at })
      for (const { reply_to } of this.rows) if (reply_to?.id === id) reply_to.content = row.content
      this.#tell('message.edited', { message: row }, who)
    }
    if (what === 'delete') {
      this.#redact(row, who, at)
      this.#tell('message.deleted', { id, deleted_by: who, deleted_at: at, reason: null }, who)
    }
    if (what === 'react') {
      row.reactions = { '+': which % 5, '-': which % 3 }
      this.#tell('reaction.changed', { id, emoji: '+', on: true, counts: row.reactions }, who)
    }
    if (what === 'pin') {
      Object.assign(row, { is_pinned: true, pinned_by: who, pinned_at: at })
      this.pins = [id, ...this.pins.filter((pin) => pin !== id)]
      this.#tell('message.pinned', { id, pinned_by: who, pinned_at: at }, who)
    }
    if (what === 'unpin' && row.is_pinned) {
      Object.assign(row, { is_pinned: false, pinned_by: null, pinned_at: null })
      this.pins = this.pins.filter((pin) => pin !== id)
      this.#tell('message.unpinned', { id }, who)
    }
  }

  #redact(row: Message, who: string, at: string): void {
    const content = '[Message deleted]'
    Object.assign(row, { is_deleted: true, deleted_by: who, deleted_at: at, delete_reason: null, content })
    row.version++
    for (const answer of this.rows) if (answer.reply_to?.id === row.id) answer.reply_to = null
    Object.assign(row, { attachments: [], mentions: [], reactions: {}, reply_to: null })
    Object.assign(row, { is_pinned: false, pinned_by: null, pinned_at: null })
    this.pins = this.pins.filter((pin) => pin !== row.id)
  }

  #purge(target: string): void {
    const gone = this.rows.filter(({ sender_address, is_deleted }) => sender_address === target && !is_deleted)
    const deleted_at = `at ${this.live.length + 1}`
    for (const row of gone) this.#redact(row, 'cyd', deleted_at)
    const range = { from_seq: 1, to_seq: this.live.length }
    this.#tell(
      'messages.purged',
      { target: { id: target, name: target }, ...range, count: gone.length, deleted_at, reason: null },
      'cyd',
    )
  }

  #mute(action: 'mute' | 'unmute', who: string): void {
    const until = action === 'mute' ? 'later' : null
    if (who === 'bob') this.me = { ...this.me, is_muted: action === 'mute', muted_until: until }
    this.#tell('moderation.applied', { action, target: { id: who, name: who }, until, reason: null }, 'cyd')
  }

  #promote(who: string, which: number): void {
    const role = which % 2 ? 'moderator' : 'member'
    const permissions = { can_pin: which % 2 === 1 }
    if (who === 'bob') this.me = { ...this.me, role, permissions }
    this.#tell('role.changed', { target: { id: who, name: who }, role, permissions }, 'cyd')
  }
}

const modelOf = (all: readonly Act[]) => {
  const model = new Model()
  for (const act of all) model.act(act)
  return model
}
const joined = (snapshot: Snapshot, before = emptyRoom(room)) =>
  applyEvents(
    applySnapshot(before, snapshot),
    snapshot.events.filter(({ seq }) => seq > before.seq),
    'bob',
  )
/** A live edit holds the text of that moment; an edit in a page holds the current text. */
const seen = ({ notices: _notices, online: _online, ...state }: RoomState) => state

describe('the state of a room', () => {
  test('is the same for a client that followed it live and for one that joins later', () => {
    fc.assert(
      fc.property(acts, (all) => {
        const model = modelOf(all)
        const there = applyEvents(joined(new Model().snapshot()), model.live, 'bob')
        expect(seen(there)).toEqual(seen(joined(model.snapshot())))
      }),
    )
  })

  test('is the same after a disconnect and a catch-up', () => {
    fc.assert(
      fc.property(acts, acts, (before, after) => {
        const first = modelOf(before)
        const away = joined(first.snapshot())
        for (const act of after) first.act(act)
        expect(seen(joined(first.snapshot(), away))).toEqual(seen(joined(first.snapshot())))
      }),
    )
  })

  test('quotes no deleted message, in pins either', () => {
    const first = modelOf([
      { do: 'say', who: 'bob', which: 0 },
      { do: 'say', who: 'cyd', which: 0 },
    ])
    const away = joined(first.snapshot())
    first.act({ do: 'pin', who: 'ada', which: 1 })
    first.act({ do: 'purge', who: 'bob', which: 0 })
    const back = joined(first.snapshot(), away)
    expect(back.pins.map(({ reply_to }) => reply_to)).toEqual([null])
    expect(seen(back)).toEqual(seen(joined(first.snapshot())))
  })

  test('is never mutated in place', () => {
    fc.assert(
      fc.property(acts, (all) => {
        const state = deepFreeze(joined(modelOf(all).snapshot()))
        const more = modelOf([...all, ...all])
        applyEvents(state, more.live.slice(state.seq), 'bob')
      }),
    )
  })

  test('does not change by a version that is not newer', () => {
    const model = modelOf([{ do: 'say', who: 'ada', which: 1 }])
    const state = joined(model.snapshot())
    const message = { ...state.messages[0], content: 'stale', version: 1 }
    const event = { ...(model.live[0] as RoomEvent), seq: 2, type: 'message.edited', data: { message } } as RoomEvent
    expect(applyEvents(state, [event], 'bob').messages).toEqual(state.messages)
  })
})

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
