import { type Fed, Feed } from '#client/sdk/feed'
import type { RoomKey, Row } from '#server/log/types'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { AppError } from '#shared/errors'
import { roomOfKey } from '#shared/kit/primitives'
import type { Cluster } from './cluster.ts'
import type { History, Shown } from './history.ts'
import type { Machine } from './machine.ts'
import { keys } from './product.ts'

const PAGE = 200
const PATIENCE = 3_500

interface Visit {
  machine: Machine
  isOver: boolean
  end: () => void
}

interface Asked {
  after_seq?: number
  epoch?: string
}

/** A reader of a room with the product's client: it receives pushed rows from a machine, and requests pages of missed ones. */
export class Reader {
  readonly name: string
  readonly user: string
  readonly room: RoomKey
  readonly #cluster: Cluster
  readonly #history: History
  readonly #feed: Feed
  #visit: Visit | null = null
  #leave: () => void = () => {}

  constructor(user: string, room: RoomKey, cluster: Cluster, history: History) {
    this.name = `${user} in ${room}`
    this.user = user
    this.room = room
    this.#cluster = cluster
    this.#history = history
    const call = (operation: string, input: object) => this.#ask(operation, input)
    this.#feed = new Feed(roomOfKey(room), call as ConstructorParameters<typeof Feed>[1], this.#fed())
  }

  #fed(): Fed {
    const { name: reader } = this
    return {
      reset: () => this.#history.note({ op: 'reset', reader }),
      snapshot() {},
      openByRest: async () => {},
      events: (events) => this.#history.note({ op: 'applied', reader, seqs: events.map(({ seq }) => seq) }),
      catchingUp() {},
      caughtUp() {},
      refused: () => this.#visit?.end(),
    }
  }

  /** Reads on a machine for a time, or until it is removed. */
  async visit(milliseconds: number): Promise<void> {
    const { world } = this.#cluster
    await new Promise<void>((resolve) => {
      const timer = world.after(milliseconds, resolve)
      const end = () => {
        timer.run = null
        resolve()
      }
      this.#visit = { machine: this.#cluster.any(), isOver: false, end }
      this.#feed.follow('socket')
    })
    this.#depart()
  }

  /** Reads to the end of the log, after the faults have ended. */
  async finish(): Promise<void> {
    await this.visit(2_000)
    this.#history.note({ op: 'finished', reader: this.name, user: this.user, room: this.room })
  }

  #depart(): void {
    if (this.#visit) this.#visit.isOver = true
    this.#visit = null
    this.#feed.follow('none')
    this.#leave()
    this.#leave = () => {}
  }

  /** A call over the network: it takes time, and a dead machine never answers. */
  #ask(operation: string, input: Asked): Promise<unknown> {
    const visit = this.#visit
    const { world } = this.#cluster
    return new Promise((resolve, reject) => {
      if (!visit) return reject(new AppError('SERVICE_UNAVAILABLE'))
      const timeout = world.after(PATIENCE, () => reject(new AppError('SERVICE_UNAVAILABLE')))
      const settle = (act: () => void) => {
        timeout.run = null
        if (!visit.isOver && !visit.machine.isDead) act()
      }
      visit.machine.after(world.between(0.1, 1), () => {
        const answer =
          operation === 'messages.join' ? this.#join(visit, input) : this.#page(visit, input.after_seq ?? 0)
        answer.then(
          (answered) => settle(() => resolve(answered)),
          (error) => settle(() => reject(error)),
        )
      })
    })
  }

  /** Joins the room before the page is read, so that no row is missed in between. */
  async #join(visit: Visit, { after_seq = 0, epoch }: Asked): Promise<object> {
    const { machine } = visit
    const { log } = machine
    this.#leave()
    this.#leave = () => {}
    const release = await log.hold(this.room)
    const { isMember, ...head } = await log.ask(
      this.room,
      (view) => ({ isMember: view.get(keys.member(this.user)) !== null, seq: view.seq, epoch: view.epoch }),
      ({ isMember }) => {
        if (isMember && !visit.isOver && !machine.isDead) this.#listen(visit, release)
        else release()
      },
    )
    if (!isMember) throw new AppError('NOT_A_MEMBER')
    const isLost = (epoch !== undefined && epoch !== head.epoch) || after_seq > head.seq
    if (isLost) return { epoch: head.epoch, head_seq: head.seq, events: [], complete: true, reset: true }
    return this.#page(visit, after_seq)
  }

  /** Access is judged for each page, which ends at the head of that moment. */
  async #page({ machine, isOver }: Visit, after: number): Promise<object> {
    const { room, user, name: reader } = this
    const { head, isMember, epoch } = await machine.log.ask(room, (view) => ({
      head: view.seq,
      epoch: view.epoch,
      isMember: view.get(keys.member(user)) !== null,
    }))
    if (!isMember) throw new AppError('NOT_A_MEMBER')
    if (isOver) throw new AppError('SERVICE_UNAVAILABLE')
    const { world } = this.#cluster
    // Rows may be stored between the judgement and the page.
    await new Promise<void>((resolve) => machine.after(world.between(0, 5), resolve))
    const found = await machine.log.read(room, after, PAGE)
    const rows = this.#endsPages ? found.filter(({ seq }) => seq <= head) : found
    const events = machine.show(rows)
    if (this.#visit?.machine === machine) this.#history.note({ op: 'paged', reader, head, rows: rows.map(shown) })
    return { epoch, head_seq: head, events, complete: (rows.at(-1)?.seq ?? after) >= head }
  }

  get #endsPages(): boolean {
    return this.#cluster.without !== 'end pages at the head that was judged'
  }

  #listen(visit: Visit, release: () => void): void {
    const { name: reader, user, room } = this
    const leave = visit.machine.listen(room, {
      user,
      told: (rows: readonly Row[], events: readonly RoomEvent[]) => {
        this.#history.note({ op: 'told', reader, rows: rows.map(shown) })
        this.#feed.deliver(events)
      },
      out: () => {
        this.#leave()
        visit.end()
      },
    })
    this.#history.note({ op: 'listens', reader, user, room, node: visit.machine.name })
    let isThere = true
    this.#leave = () => {
      if (!isThere) return
      isThere = false
      leave()
      release()
      this.#history.note({ op: 'left', reader })
    }
  }
}

const shown = ({ seq, _id }: Row): Shown => ({ seq, id: _id })
