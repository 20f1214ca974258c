import type { LogStore, RoomHead, RoomKey, Row } from '#server/log/types'

export class DuplicateKey extends Error {
  readonly code = 11_000
}

export const isDuplicate = (error: unknown): boolean => error instanceof DuplicateKey

/** What a database would hold. */
export class Memory {
  readonly logs = new Map<RoomKey, Row[]>()
  readonly heads = new Map<RoomKey, RoomHead & { movedAt: number }>()
  readonly leases = new Map<string, { node: string; room: RoomKey; confirmed: number; at: number; beat: number }>()
  readonly #seqOf = new Map<string, number>()
  onCommit: (row: Row) => void = () => {}

  log(room: RoomKey): Row[] {
    const log = this.logs.get(room) ?? []
    this.logs.set(room, log)
    return log
  }

  insertOne(row: Row): void {
    const log = this.log(row.room)
    const key = `${row.room} ${row.sender} ${row.cid}`
    if (log[row.seq - 1] || this.#seqOf.has(key)) throw new DuplicateKey()
    if (log.length !== row.seq - 1) throw new Error(`A gap before ${row.room} ${row.seq}.`)
    log.push({ ...row })
    this.#seqOf.set(key, row.seq)
    this.onCommit(row)
  }

  /** An independent copy of the current state. */
  copy(): Memory {
    const copy = new Memory()
    for (const [room, log] of this.logs) copy.logs.set(room, [...log])
    for (const [room, head] of this.heads) copy.heads.set(room, head)
    for (const [key, lease] of this.leases) copy.leases.set(key, lease)
    for (const [key, seq] of this.#seqOf) copy.#seqOf.set(key, seq)
    return copy
  }

  byCid(room: RoomKey, sender: string, cid: string): Row | null {
    const seq = this.#seqOf.get(`${room} ${sender} ${cid}`)
    return seq === undefined ? null : (this.log(room)[seq - 1] ?? null)
  }
}

/** A log store in memory; every answer passes through `reach`, which may delay or lose it. */
export function memoryStore(
  memory: Pick<Memory, 'log' | 'heads' | 'leases' | 'insertOne' | 'byCid'>,
  alone: boolean,
  reach: <T>(name: keyof LogStore, work: () => T) => Promise<T> = async (_, work) => work(),
): LogStore {
  return {
    alone,
    insert: (rows) =>
      reach('insert', () => {
        for (const row of rows) memory.insertOne(row)
      }),
    read: (room, after, limit) => reach('read', () => memory.log(room).slice(after, after + limit)),
    byCid: (room, sender, cid) => reach('byCid', () => memory.byCid(room, sender, cid)),
    raiseHeads: (heads, movedAt) =>
      reach('raiseHeads', () => {
        for (const head of heads) {
          const before = memory.heads.get(head.room)
          memory.heads.set(head.room, {
            room: head.room,
            epoch: before?.epoch ?? head.epoch,
            seq: Math.max(head.seq, before?.seq ?? 0),
            total: Math.max(head.total, before?.total ?? 0),
            materialised: Math.max(head.materialised, before?.materialised ?? 0),
            movedAt: Math.max(movedAt, before?.movedAt ?? 0),
          })
        }
      }),
    headOf: (room) =>
      reach('headOf', () => memory.heads.get(room) ?? { room, epoch: '', seq: 0, total: 0, materialised: 0 }),
    headsMovedSince: (at) =>
      reach('headsMovedSince', () => [...memory.heads.values()].filter(({ movedAt }) => movedAt >= at)),
    advanced: (positions) =>
      reach('advanced', () =>
        positions.filter(({ room, seq }) => memory.log(room).length > seq).map(({ room }) => room),
      ),
    writeLeases: (node, leases, at, beat) =>
      reach('writeLeases', () => {
        for (const { room, confirmed } of leases)
          memory.leases.set(`${node} ${room}`, { node, room, confirmed, at, beat })
      }),
    leasesOf: (room, aliveSince) =>
      reach('leasesOf', () =>
        [...memory.leases.values()].filter((lease) => lease.room === room && lease.at >= aliveSince),
      ),
  }
}
