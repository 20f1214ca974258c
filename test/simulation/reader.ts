import type { RoomKey, Row } from '#server/log/types'
import type { Machine } from './cluster.ts'

/** A client that reads a room: it attaches first, catches up by pages, holds what comes early, drops what it has. */
export class Reader {
  readonly user: string
  readonly room: RoomKey
  /** What it has shown, in order. */
  readonly shown: Row[] = []
  /** What reached it live, in order. */
  readonly live: Row[] = []
  readonly faults: string[] = []
  readonly #early = new Map<number, Row>()
  isAttached = false
  #detach: () => void = () => {}
  #attempts = 0

  constructor(user: string, room: RoomKey) {
    this.user = user
    this.room = room
  }

  async attach(machine: Machine): Promise<void> {
    const attempt = ++this.#attempts
    const release = await machine.log.hold(this.room)
    const isMember = await machine.log.ask(
      this.room,
      (view) => view.get(`member:${this.user}`) !== null,
      (isWelcome) => (isWelcome && attempt === this.#attempts ? this.#listen(machine, release) : release()),
    )
    if (!isMember || attempt !== this.#attempts) return
    for (let isMore = true; isMore; ) {
      const rows = await machine.log.read(this.room, this.shown.length, 200)
      for (const row of rows) this.#show(row)
      isMore = rows.length === 200
    }
  }

  detach(): void {
    this.#attempts++
    this.#detach()
    this.#detach = () => {}
    this.isAttached = false
  }

  #listen(machine: Machine, release: () => void): void {
    let last = 0
    const watch = (room: RoomKey, row: Row) => {
      if (room !== this.room) return
      if (last !== 0 && row.seq !== last + 1) this.faults.push(`delivered ${row.seq} after ${last}`)
      last = row.seq
      this.live.push(row)
      this.#show(row)
      if (removes(row, this.user)) this.detach()
    }
    machine.watchers.add(watch)
    this.isAttached = true
    this.#detach = () => {
      machine.watchers.delete(watch)
      release()
    }
  }

  #show(row: Row): void {
    if (row.seq > this.shown.length) this.#early.set(row.seq, row)
    for (let next = this.#early.get(this.shown.length + 1); next; next = this.#early.get(this.shown.length + 1)) {
      this.#early.delete(next.seq)
      this.shown.push(next)
    }
  }
}

function removes(row: Row, user: string): boolean {
  return (row.type === 'ban' && row.target === user) || (row.type === 'leave' && row.sender === user)
}
