import { z } from 'zod'
import type {
  Act,
  Change,
  Fact,
  Judgement,
  LoggedEvent,
  Projection,
  Records,
  RoomKey,
  Row,
  View,
} from '#server/log/types'
import { AppError } from '#shared/errors'

// A small chat over the log: members, bans, slow mode, edits, suspensions. It has every kind of act that the log treats differently.

const MODERATION = new Set(['ban', 'unban', 'suspend', 'unsuspend'])

export const projection: Projection = {
  always: (room) => (room === 'global' ? [] : ['slow']),
  changes: (row) => changesOf(row),
  isMessage: (type) => type === 'message',
  isChained: (type) => MODERATION.has(type),
  holdsEverywhere: (type) => type === 'ban' || type === 'leave' || type === 'suspend',
  rewrites: (event) =>
    event.type === 'edit' ? (row) => (row._id === event.target ? { ...row, body: event.body } : row) : null,
}

function changesOf(row: Row): Change[] {
  if (row.type === 'message') return [{ key: `last:${row.sender}`, value: row.at }]
  if (row.type === 'edit') return [{ key: `text:${row.target}`, patch: (before) => edited(before, row) }]
  if (row.type === 'join') return [{ key: `member:${row.sender}`, value: row.seq }]
  if (row.type === 'leave') return [{ key: `member:${row.sender}`, value: null }]
  if (row.type === 'slow') return [{ key: 'slow', value: row.body.milliseconds ?? null }]
  if (row.type === 'ban') {
    return [
      { key: `ban:${row.target}`, value: row.seq },
      { key: `member:${row.target}`, value: null },
    ]
  }
  if (row.type === 'unban') return [{ key: `ban:${row.target}`, value: null }]
  if (row.type !== 'suspend' && row.type !== 'unsuspend') return []
  return [{ key: `suspended:${row.target}`, value: row.type === 'suspend' ? row.seq : null }]
}

/** Each edit increments the version of the text, so that an edit applied twice or not at all is noticed. */
function edited(before: Fact, row: Row): Fact {
  return { version: versionOf(before) + 1, text: row.body.text ?? null }
}

function versionOf(fact: Fact): number {
  const version = fact && typeof fact === 'object' && 'version' in fact ? fact.version : 1
  return typeof version === 'number' ? version : 1
}

/** The record of an event of this type, whatever it says. */
export const makes = (type: string): LoggedEvent => ({ type, body: z.any() })

export const say = (sender: string, cid?: string, text = 'hello'): Act<'already'> => ({
  sender,
  cid,
  makes: makes('message'),
  judge(view, now) {
    const why = mayAct(view, sender)
    if (why) return why
    const [slow, last] = [view.get('slow'), view.get(`last:${sender}`)]
    const tooSoon = typeof slow === 'number' && typeof last === 'number' && now - last < slow
    return tooSoon ? { refuse: new AppError('SLOW_MODE') } : { accept: { type: 'message', body: { text } } }
  },
})

export const edit = (sender: string, id: string, version: number, cid?: string): Act<'already'> => ({
  sender,
  cid,
  makes: makes('edit'),
  judge(view) {
    const why = mayAct(view, sender)
    if (why) return why
    if (versionOf(view.get(`text:${id}`)) !== version) return { refuse: new AppError('CONFLICT') }
    return { accept: { type: 'edit', target: id, body: { text: `${cid} ${version + 1}` } } }
  },
})

export const join = (sender: string, cid?: string): Act<'already'> => ({
  sender,
  cid,
  makes: makes('join'),
  judge(view) {
    if (view.get(`ban:${sender}`) !== null) return { refuse: new AppError('BANNED') }
    return once(view.get(`member:${sender}`) !== null, { type: 'join', body: {} })
  },
})

export const leave = (sender: string, cid?: string): Act<'already'> => ({
  sender,
  cid,
  makes: makes('leave'),
  judge: (view) => once(view.get(`member:${sender}`) === null, { type: 'leave', body: {} }),
})

export const slow = (milliseconds: number, cid?: string): Act<'already'> => ({
  sender: 'mod',
  cid,
  makes: makes('slow'),
  judge: () => ({ accept: { type: 'slow', body: { milliseconds } } }),
})

/** `ban`, `unban`, `suspend`, `unsuspend`. */
export const moderate = (type: string, target: string, cid?: string): Act<'already'> => ({
  sender: 'mod',
  cid,
  makes: makes(type),
  judge(view) {
    const state = view.get(`${type.endsWith('ban') ? 'ban' : 'suspended'}:${target}`)
    return once((state === null) === type.startsWith('un'), { type, target, body: {}, reason: 'why not' })
  },
})

function once(
  isAlready: boolean,
  entry: { type: string; target?: string; body: Row['body']; reason?: string },
): Judgement<'already'> {
  return isAlready ? { already: 'already' } : { accept: entry }
}

function mayAct(view: View, sender: string): { refuse: AppError } | null {
  if (view.global.get(`suspended:${sender}`) !== null) return { refuse: new AppError('SUSPENDED') }
  if (view.get(`ban:${sender}`) !== null) return { refuse: new AppError('BANNED') }
  if (view.get(`member:${sender}`) === null) return { refuse: new AppError('NOT_A_MEMBER') }
  return null
}

/** The same act, with a judge that throws its refusal. */
export const throwing = <T>({ judge, ...act }: Act<T>): Act<T> => ({
  ...act,
  judge(view, now) {
    const judgement = judge(view, now)
    if ('refuse' in judgement) throw judgement.refuse
    return judgement
  },
})

/** The records beside the log. Slow mode has none: its clock is read from the sender's last row. */
export class Kept {
  readonly records = new Map<string, { value: Fact; seq: number }>()
  /** Called with each record that is written. */
  onSave: (room: RoomKey, key: string, value: Fact, seq: number) => void = () => {}
  /** If false, a record written later replaces a newer one. */
  isNewerOnly = true
  readonly #log: (room: RoomKey) => readonly Row[]

  constructor(log: (room: RoomKey) => readonly Row[]) {
    this.#log = log
  }

  /** A copy of the current records over a copy of the log. */
  copy(log: (room: RoomKey) => readonly Row[]): Kept {
    const copy = new Kept(log)
    for (const [key, record] of this.records) copy.records.set(key, record)
    return copy
  }

  load(room: RoomKey, keys: readonly string[]): Map<string, { value: Fact; seq: number }> {
    return new Map(keys.map((key) => [key, this.#load(room, key)]))
  }

  save(room: RoomKey, changes: Parameters<Records['save']>[1]): void {
    for (const { key, value, row } of changes) {
      if (key.startsWith('last:')) continue
      const before = this.records.get(`${room} ${key}`)
      if (before && before.seq >= row.seq && this.isNewerOnly) continue
      this.records.set(`${room} ${key}`, { value, seq: row.seq })
      this.onSave(room, key, value, row.seq)
    }
  }

  #load(room: RoomKey, key: string): { value: Fact; seq: number } {
    if (!key.startsWith('last:')) return this.records.get(`${room} ${key}`) ?? { value: null, seq: 0 }
    const row = this.#log(room).findLast(({ type, sender }) => type === 'message' && sender === key.slice(5))
    return row ? { value: row.at, seq: row.seq } : { value: null, seq: 0 }
  }
}
