import { leaseMilliseconds, turnRows } from './limits.ts'
import { GLOBAL, type Hint, type Hints, type LiveNodes, type LogStore, type RoomKey, type Row } from './types.ts'

const labelLength = 200

/** The messages between nodes, as far as hints need them. */
interface Wire {
  isUp(): boolean
  /** False if the message is too long to be sent. */
  tell(topic: string, word: unknown): boolean
  listen(topic: string, listener: (word: unknown) => void): () => void
}

const pollWithHintsMilliseconds = 1_000
const pollWithoutMilliseconds = 500

/** Hints, with a topic for each room. Messages that are no hint of the room are dropped. */
export function hintsOver(wire: Wire): Hints {
  const listeners: ((hint: Hint) => void)[] = []
  const followed = new Map<RoomKey, () => void>()
  return {
    pollMilliseconds: () => (wire.isUp() ? pollWithHintsMilliseconds : pollWithoutMilliseconds),
    publish: (hint) => publish(wire, hint),
    subscribe: (listener) => void listeners.push(listener),
    follow(room) {
      if (followed.has(room)) return
      const stop = wire.listen(topicOf(room), (word) => {
        const hint = hintFrom(word, room)
        if (hint) for (const listener of listeners) listener(hint)
      })
      followed.set(room, stop)
    },
    leave(room) {
      followed.get(room)?.()
      followed.delete(room)
    },
  }
}

const topicOf = (room: RoomKey) => `log:${room}`

/** A hint that is too long is sent in two halves. A single row never is too long. */
function publish(wire: Wire, hint: Hint): void {
  const room = hint.kind === 'rows' ? hint.rows[0]?.room : hint.room
  if (room === undefined || wire.tell(topicOf(room), wordOf(hint))) return
  if (hint.kind !== 'rows' || hint.rows.length < 2) return
  const half = hint.rows.length >> 1
  publish(wire, { ...hint, rows: hint.rows.slice(0, half) })
  publish(wire, { ...hint, rows: hint.rows.slice(half) })
}

/** Nodes call a confirmed row `applied` in their messages. */
const wordOf = (hint: Hint) => (hint.kind === 'confirmed' ? { ...hint, kind: 'applied' } : hint)

/** The hint in a message, if it is one of this room. */
export function hintFrom(word: unknown, room: RoomKey): Hint | null {
  if (!isObject(word) || !isLabel(word.node)) return null
  const { node } = word
  if (word.kind === 'collided') return word.room === room ? { kind: 'collided', node, room } : null
  if (word.kind === 'applied')
    return word.room === room && isCount(word.seq) ? { kind: 'confirmed', node, room, seq: word.seq } : null
  if (word.kind !== 'rows' || !Array.isArray(word.rows) || word.rows.length > turnRows) return null
  const rows: unknown[] = word.rows
  return rows.every((row) => isRow(row, room)) ? { kind: 'rows', node, rows: rows.map(versioned) } : null
}

/** Nodes of the previous version send no version. */
const versioned = (row: Row): Row => (row.v === undefined ? { ...row, v: 1 } : row)

function isRow(row: unknown, room: RoomKey): row is Row {
  if (!isObject(row) || row.room !== room || !isObject(row.body)) return false
  const labels = [row._id, row.epoch, row.type, row.sender, row.cid]
  const counts = [row.seq, row.total, row.at, row.applied_seq]
  return (
    labels.every(isLabel) &&
    counts.every(isCount) &&
    (row.v === undefined || isCount(row.v)) &&
    (row.n === null || isCount(row.n)) &&
    (row.until === null || isCount(row.until)) &&
    (row.target === null || isLabel(row.target)) &&
    (row.reason === null || typeof row.reason === 'string') &&
    typeof row.chain === 'string' &&
    typeof row.chained === 'boolean'
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isLabel = (value: unknown): value is string => typeof value === 'string' && value.length <= labelLength
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const lookMilliseconds = 1_000

/** A dead node is noticed within six seconds, with or without Redis. */
export function followNodes(store: LogStore, self: string, now: () => number): LiveNodes {
  let live: ReadonlySet<string> = new Set([self])
  const listeners: (() => void)[] = []
  const look = async () => {
    const leases = await store.leasesOf(GLOBAL, now() - leaseMilliseconds)
    const found = new Set([self, ...leases.map(({ node }) => node)])
    if (found.size === live.size && [...found].every((node) => live.has(node))) return
    live = found
    for (const listener of listeners) listener()
  }
  const timer = store.alone ? undefined : setInterval(() => void look().catch(() => {}), lookMilliseconds).unref()
  return {
    live: () => live,
    onChange: (listener) => void listeners.push(listener),
    stop: () => clearInterval(timer),
  }
}
