import { GLOBAL } from '#server/log/index'
import type { Fact, RoomKey, Row } from '#server/log/types'
import type { Note } from './checker.ts'
import type { Deed, Event } from './history.ts'
import type { Ledger } from './ledger.ts'
import { keys, kindOf, sentAt, slowOf, suspensionKey, versionOf } from './product.ts'
import type { RecordCheck } from './record-check.ts'
import { POISON } from './road.ts'

interface Request {
  node: string
  deed: Deed
  asked: number
  /** The highest row of the room that was acknowledged before this act was first requested. */
  floor: number
}

type Answered = Extract<Event, { op: 'acknowledged' | 'already' | 'refused' | 'unknown' | 'silent' }>

const SKEW = 250

/** Checks every answer: acknowledged rows are stored, and each reason of a refusal was true at some moment since the request. */
export class AnswerCheck {
  readonly #ledger: Ledger
  readonly #records: RecordCheck
  readonly #note: Note
  readonly #requests = new Map<number, Request>()
  readonly #tries = new Map<string, { count: number; floor: number }>()
  readonly #acknowledged = new Map<RoomKey, number>()
  /** Keys that were refused at their only attempt. */
  readonly #refused = new Set<string>()
  #skew = SKEW
  /** Suspended accounts whose suspension every node has confirmed. */
  readonly #silenced = new Set<string>()
  /** When each node was last connected to a primary without its majority. */
  readonly #cuts = new Map<string, { from: number; to: number }>()

  constructor(ledger: Ledger, records: RecordCheck, note: Note) {
    this.#ledger = ledger
    this.#records = records
    this.#note = note
  }

  see(event: Event): void {
    if (event.op === 'welcomed' && event.answer === 'none') this.#note('a room stands still')
    if (event.op === 'split')
      for (const node of event.nodes) this.#cuts.set(node, { from: event.at, to: Number.POSITIVE_INFINITY })
    else if (event.op === 'rejoined') for (const node of event.nodes) this.#rejoined(node, event.at)
    else if (event.op === 'stepped') this.#skew = Math.max(this.#skew, SKEW + Math.abs(event.by))
    else if (event.op === 'asked') this.#asked(event)
    else if ('request' in event) this.#answered(event)
  }

  #answered(event: Answered): void {
    const request = this.#requests.get(event.request)
    this.#requests.delete(event.request)
    if (!request) this.#note('an answer that nobody asked for')
    else if (event.op === 'acknowledged') this.#standing(request, event)
    else if (event.op === 'already') this.#already(request, event.at)
    else if (event.op === 'refused') this.#refusal(request, event)
    else if (event.op === 'silent') this.#note('no answer in time')
  }

  stored(row: Row): void {
    const kind = kindOf(row)
    const isWriting = kind === 'message' || kind === 'edit'
    if (isWriting && this.#silenced.has(row.sender)) this.#note('a suspended one wrote after the ack')
    if (kind === 'unsuspend' && row.target) this.#silenced.delete(row.target)
    if (this.#refused.has(keyOf(row))) this.#note('stored after its refusal')
  }

  #rejoined(node: string, at: number): void {
    const cut = this.#cuts.get(node)
    if (cut) cut.to = at
  }

  /** The earliest moment that reads of this node may show: a primary without its majority answers with the state from when it lost it. */
  #readsSince({ node, asked }: Request): number {
    const cut = this.#cuts.get(node)
    return cut && cut.to >= asked ? Math.min(cut.from, asked) : asked
  }

  #asked({ request, node, deed, at }: Extract<Event, { op: 'asked' }>): void {
    const tries = this.#tries.get(keyOf(deed)) ?? { count: 0, floor: this.#acknowledged.get(deed.room) ?? 0 }
    tries.count++
    this.#tries.set(keyOf(deed), tries)
    this.#requests.set(request, { node, deed, asked: at, floor: tries.floor })
  }

  #standing({ deed, floor }: Request, { seq, id, pending }: Extract<Event, { op: 'acknowledged' }>): void {
    const row = this.#ledger.log(deed.room)[seq - 1]
    if (!row || row._id !== id) {
      this.#note('acknowledged and not there')
      return
    }
    if (row.sender !== deed.sender || row.cid !== deed.cid || kindOf(row) !== deed.type)
      this.#note('acknowledged as something else')
    if (seq <= floor) this.#note('stored before what was acknowledged earlier')
    this.#acknowledged.set(deed.room, Math.max(seq, this.#acknowledged.get(deed.room) ?? 0))
    if (!this.#records.areWritten(row)) this.#note('acknowledged before its records')
    const isStill = this.#ledger.seqOf(GLOBAL, suspensionKey(row.target ?? '')) === seq
    if (kindOf(row) === 'suspend' && pending === 0 && isStill) this.#silenced.add(row.target ?? '')
  }

  #already(request: Request, at: number): void {
    const { room, type, sender, target } = request.deed
    const since = this.#readsSince(request)
    const was = (key: string, isSet: boolean) =>
      this.#ledger.was(room, key, [since, at], (value) => (value !== null) === isSet)
    const isTrue =
      (type === 'join' && was(`member:${sender}`, true)) ||
      (type === 'leave' && was(`member:${sender}`, false)) ||
      (type.endsWith('ban') && was(`ban:${target}`, type === 'ban')) ||
      (type.endsWith('suspend') && was(suspensionKey(target ?? ''), type === 'suspend'))
    if (!isTrue) this.#note(`already so, and never was: ${type}`)
  }

  #refusal(request: Request, { code, at }: Extract<Event, { op: 'refused' }>): void {
    const { deed } = request
    const since = this.#readsSince(request)
    const storedAt = this.#ledger.storedAt(deed.room, deed.sender, deed.cid)
    if (storedAt !== undefined && storedAt < since) this.#note('refused though stored before')
    if (this.#tries.get(keyOf(deed))?.count === 1) {
      if (storedAt !== undefined) this.#note('refused though stored')
      this.#refused.add(keyOf(deed))
    }
    if (!this.#isTrue(code, deed, since, at)) this.#note(`refused for what never was: ${code}`)
  }

  #isTrue(code: string, { room, sender, target, version, text }: Deed, asked: number, at: number): boolean {
    const was = (key: string, is: (value: Fact) => boolean, where = room) =>
      this.#ledger.was(where, key, [asked, at], is)
    const isSet = (value: Fact) => value !== null
    if (code === 'BANNED') return was(`ban:${sender}`, isSet)
    if (code === 'NOT_A_MEMBER') return was(`member:${sender}`, (value) => value === null)
    if (code === 'SUSPENDED') return was(suspensionKey(sender), isSet, GLOBAL)
    if (code === 'VALIDATION_ERROR') return text === POISON
    if (code === 'CONFLICT') return was(keys.message(target ?? ''), (value) => versionOf(value) !== version)
    if (code === 'NOT_FOUND') return was(keys.message(target ?? ''), (value) => value === null)
    if (code !== 'SLOW_MODE') return false
    return was(keys.rules, (rules) => {
      const slow = slowOf(rules)
      const since = asked - this.#skew - slow
      return slow > 0 && was(keys.clock(sender), (clock) => (sentAt(clock) ?? Number.NEGATIVE_INFINITY) > since)
    })
  }
}

const keyOf = ({ room, sender, cid }: Pick<Row, 'room' | 'sender' | 'cid'>) => `${room} ${sender} ${cid}`
