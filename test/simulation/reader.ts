import type { RoomKey, Row } from '#server/log/types'
import type { Cluster } from './cluster.ts'
import type { History, Shown } from './history.ts'
import type { Machine } from './machine.ts'

const PAGE = 200
const PATIENCE = 3_500

/** A client that reads a room: it listens first, catches up by pages, holds what comes early, drops what it has. */
export class Reader {
  readonly name: string
  readonly user: string
  readonly room: RoomKey
  readonly #cluster: Cluster
  readonly #history: History
  readonly #early = new Set<number>()
  #last = 0
  #visit = 0
  #leave: () => void = () => {}

  constructor(user: string, room: RoomKey, cluster: Cluster, history: History) {
    this.name = `${user} in ${room}`
    this.user = user
    this.room = room
    this.#cluster = cluster
    this.#history = history
  }

  /** Reads on some machine for so long, or until sent away. */
  async visit(milliseconds: number): Promise<void> {
    const { world } = this.#cluster
    const visit = ++this.#visit
    let end = () => {}
    const gone = new Promise<void>((resolve) => {
      end = resolve
    })
    const timer = world.after(milliseconds + PATIENCE, end)
    await Promise.race([gone, this.#attach(this.#cluster.any(), visit, end).catch(end)])
    if (visit === this.#visit && timer.run) await Promise.race([gone, world.sleep(milliseconds)])
    timer.run = null
    this.#depart()
  }

  /** What came while everything goes well, to the end of the log. */
  async finish(): Promise<void> {
    await this.visit(1_000)
    this.#history.note({ op: 'finished', reader: this.name, user: this.user, room: this.room })
  }

  async #attach(machine: Machine, visit: number, end: () => void): Promise<void> {
    const release = await machine.log.hold(this.room)
    const isWelcome = await machine.log.ask(
      this.room,
      (view) => view.get(`member:${this.user}`) !== null,
      (isMember) => {
        if (isMember && visit === this.#visit && !machine.isDead) this.#listen(machine, release, end)
        else release()
      },
    )
    if (!isWelcome) end()
    for (let isMore = isWelcome; isMore && visit === this.#visit; ) isMore = await this.#page(machine, visit, end)
  }

  /** Is there more? Whether they may read is asked anew for each page, which ends at the head of that moment. */
  async #page(machine: Machine, visit: number, end: () => void): Promise<boolean> {
    const { room, user, name: reader } = this
    const { head, isMember } = await machine.log.ask(room, (view) => ({
      head: view.seq,
      isMember: view.get(`member:${user}`) !== null,
    }))
    if (!isMember) end()
    if (!isMember || visit !== this.#visit) return false
    const { world } = this.#cluster
    // Rows may come between the judgement and the page.
    await new Promise<void>((resolve) => machine.after(world.between(0, 5), resolve))
    const found = await machine.log.read(room, this.#last, PAGE)
    if (visit !== this.#visit) return false
    const rows = this.#endsPages ? found.filter(({ seq }) => seq <= head) : found
    this.#history.note({ op: 'paged', reader, head, rows: rows.map(shown) })
    this.#take(rows)
    return rows.length === PAGE
  }

  get #endsPages(): boolean {
    return this.#cluster.without !== 'end pages at the head that was judged'
  }

  #listen(machine: Machine, release: () => void, end: () => void): void {
    const { name: reader, user, room } = this
    const leave = machine.listen(room, {
      user,
      told: (rows) => {
        this.#history.note({ op: 'told', reader, rows: rows.map(shown) })
        this.#take(rows)
      },
      out: () => {
        this.#depart()
        end()
      },
    })
    this.#history.note({ op: 'listens', reader, user, room, node: machine.name })
    this.#leave = () => {
      leave()
      release()
      this.#history.note({ op: 'left', reader })
    }
  }

  #depart(): void {
    this.#visit++
    this.#leave()
    this.#leave = () => {}
    this.#early.clear()
  }

  #take(rows: readonly Row[]): void {
    for (const { seq } of rows) if (seq > this.#last) this.#early.add(seq)
    while (this.#early.delete(this.#last + 1)) this.#last++
  }
}

const shown = ({ seq, _id }: Row): Shown => ({ seq, id: _id })
