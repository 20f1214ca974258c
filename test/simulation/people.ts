import { GLOBAL } from '#server/log/index'
import type { Outcome, RoomKey } from '#server/log/types'
import { AppError } from '#shared/errors'
import { throwing } from '#test/log/chat'
import type { Cluster } from './cluster.ts'
import type { Deed, History } from './history.ts'
import type { Machine } from './machine.ts'
import { actOf } from './product.ts'
import { Reader } from './reader.ts'
import { POISON } from './road.ts'
import type { Profile } from './weather.ts'

const PATIENCE = 3_500
const PROMISED = 3_000
const TRIES = 20
const SLOW_MODE = 60

type Asked = Omit<Deed, 'cid'>

const roomNamed = (name: string): RoomKey => `channel:${name}`
export const roomsOf = ({ rooms }: Profile): RoomKey[] => Object.keys(rooms).map(roomNamed)

/** The people who use the cluster: they send, edit, moderate and read, and repeat each act with the same key until its outcome is known. */
export class People {
  readonly rooms: readonly RoomKey[]
  readonly users = ['ada', 'bo', 'cy', 'di', 'eve']
  readonly readers: Reader[] = []
  readonly #cluster: Cluster
  readonly #history: History
  #isOver = false
  #doing = 0
  #cids = 0
  #requests = 0

  constructor(cluster: Cluster, history: History) {
    this.#cluster = cluster
    this.#history = history
    const { rooms, moderators } = cluster.profile
    this.rooms = roomsOf(cluster.profile)
    for (const [name, pause] of Object.entries(rooms)) {
      const room = roomNamed(name)
      for (const user of this.users) {
        this.#during(this.#write(user, room, pause))
        const reader = new Reader(user, room, cluster, history)
        this.readers.push(reader)
        void this.#read(reader)
      }
    }
    this.#during(this.#burst(this.rooms[0] ?? ''))
    for (let index = 0; index < moderators; index++) this.#during(this.#moderate())
  }

  stop(): void {
    this.#isOver = true
  }

  /** True if all planned acts are done or given up. */
  get areDone(): boolean {
    return this.#doing === 0
  }

  #during(work: Promise<unknown>): void {
    this.#doing++
    void work.finally(() => this.#doing--)
  }

  async #write(user: string, room: RoomKey, pause: number): Promise<void> {
    const { world, profile } = this.#cluster
    await this.#do({ room, type: 'join', sender: user })
    while (await this.#goesOn(world.between(1, pause))) {
      const text = world.chance(profile.poison) ? { text: POISON } : {}
      const sent = await this.#maybeTwice({ room, type: 'message', sender: user, ...text })
      if (!sent?.row || !world.chance(profile.edits)) continue
      const changing = { room, type: 'edit', sender: user, target: sent.row._id }
      for (const version of [1, 2]) await this.#twice({ ...changing, version })
    }
  }

  async #burst(room: RoomKey): Promise<void> {
    const { world, profile } = this.#cluster
    while (await this.#goesOn(world.within(profile.bursts))) {
      const sender = world.pick(this.users)
      for (let index = 0; index < profile.burst; index++) this.#during(this.#do({ room, type: 'message', sender }))
    }
  }

  /** Applies an act of moderation to a person, and later reverts it. */
  async #moderate(): Promise<void> {
    const { world, profile } = this.#cluster
    while (await this.#goesOn(world.within(profile.moderation))) {
      const [room, user] = [world.pick(this.rooms), world.pick(this.users)]
      const [first, ...others] = courseOf(world.pick(profile.deeds), room, user)
      if (first) await this.#maybeTwice(first)
      await world.sleep(world.within(profile.lasting))
      for (const deed of others) await this.#maybeTwice(deed)
    }
  }

  async #read(reader: Reader): Promise<void> {
    const { world, profile } = this.#cluster
    while (await this.#goesOn(world.within(profile.away))) await reader.visit(world.between(200, 2_500))
  }

  async #goesOn(pause: number): Promise<boolean> {
    await this.#cluster.world.sleep(pause)
    return !this.#isOver
  }

  #maybeTwice(deed: Asked): Promise<Outcome<'already'> | null> {
    return this.#cluster.world.chance(this.#cluster.profile.twice) ? this.#twice(deed) : this.#do(deed)
  }

  /** Requests the same act twice at the same moment, on one machine or on two. */
  async #twice(deed: Asked): Promise<Outcome<'already'> | null> {
    const { world } = this.#cluster
    const machine = world.chance(0.7) ? this.#cluster.any() : null
    const [one, other] = await Promise.all([this.#do(deed, machine), this.#do(deed, machine)])
    return one?.row ? one : other
  }

  /** Requests one act from node after node until one answers. */
  async #do(asked: Asked, first: Machine | null = null): Promise<Outcome<'already'> | null> {
    const { world } = this.#cluster
    const deed: Deed = { ...asked, cid: `c${++this.#cids}` }
    for (let tries = 0; tries < TRIES; tries++) {
      const machine = tries === 0 && first ? first : this.#cluster.any()
      const answer = await this.#ask(machine, deed)
      if (answer !== 'unknown') return answer
      await world.sleep(5)
    }
    return null
  }

  async #ask(machine: Machine, deed: Deed): Promise<Outcome<'already'> | null | 'unknown'> {
    const { world, profile, isHealed } = this.#cluster
    const request = ++this.#requests
    this.#history.note({ op: 'asked', request, node: machine.name, deed })
    const at = world.now
    const forgets = !isHealed && world.chance(profile.forgets)
    const answered = new Promise<Outcome<'already'> | null | 'unknown'>((resolve) => {
      const patience = world.after(forgets ? world.within(profile.forgetting) : PATIENCE, () => {
        patience.run = null
        this.#history.note(
          this.#isSilent(machine, forgets, at)
            ? { op: 'silent', request, node: machine.name }
            : { op: 'unknown', request },
        )
        resolve('unknown')
      })
      const hear = (answer: Outcome<'already'> | AppError) => {
        if (forgets || !patience.run || machine.isDead) return
        patience.run = null
        resolve(this.#heard(request, answer))
      }
      const act = world.chance(profile.throws) ? throwing(actOf(deed)) : actOf(deed)
      machine.after(world.between(0.1, 1), () => machine.log.act(deed.room, act).then(hear, hear))
    })
    return answered
  }

  /** Checks that a node that is alive and was not paused answers within the promised time. */
  #isSilent(machine: Machine, forgets: boolean, since: number): boolean {
    const isExcused =
      machine.isDead || machine.pausedUntil > since || this.#cluster.machines.every((one) => one !== machine)
    return !forgets && !isExcused && this.#cluster.world.now - since > PROMISED
  }

  /** Lets removed people join again, so that at the end all readers must have seen all rows. */
  async comeBack(): Promise<void> {
    const deeds = this.rooms.flatMap((room) => this.users.map((sender) => ({ room, sender })))
    await Promise.all(
      deeds.map(async ({ room, sender }) => {
        await this.#do({ room, type: 'unban', sender: 'mod', target: sender })
        await this.#do({ room, type: 'join', sender })
      }),
    )
  }

  /** A new person joins every room on every node, while another may send text that cannot be encoded. */
  async welcome(): Promise<void> {
    const { machines, profile } = this.#cluster
    await Promise.all(
      [...this.rooms, GLOBAL].flatMap((room) =>
        machines.map(async (machine) => {
          const newcomer = `newcomer to ${machine.name}`
          const asked =
            room === GLOBAL ? { type: 'suspend', sender: 'mod', target: newcomer } : { type: 'join', sender: newcomer }
          const deed: Deed = { room, ...asked, cid: `c${++this.#cids}` }
          const beside = { room, type: 'message', sender: 'ada', text: POISON, cid: `c${++this.#cids}` }
          if (profile.poison > 0 && room !== GLOBAL) void this.#ask(machine, beside)
          const outcome = await this.#ask(machine, deed)
          const answer = outcome === 'unknown' || !outcome ? 'none' : 'a place'
          this.#history.note({ op: 'welcomed', node: machine.name, room, answer })
        }),
      ),
    )
  }

  #heard(request: number, answer: Outcome<'already'> | AppError): Outcome<'already'> | null | 'unknown' {
    if (answer instanceof AppError) {
      const isUnknown = answer.code === 'SERVICE_UNAVAILABLE'
      this.#history.note(isUnknown ? { op: 'unknown', request } : { op: 'refused', request, code: answer.code })
      return isUnknown ? 'unknown' : null
    }
    if (!(answer && 'row' in answer)) throw answer
    const { row } = answer
    if (row)
      this.#history.note({ op: 'acknowledged', request, seq: row.seq, id: row._id, pending: answer.pendingNodes })
    else this.#history.note({ op: 'already', request })
    return answer
  }
}

function courseOf(kind: string, room: RoomKey, user: string): Asked[] {
  const back: Asked = { room, type: 'join', sender: user }
  if (kind === 'slow') {
    const setting = { room, type: 'slow', sender: 'mod' }
    return [
      { ...setting, milliseconds: SLOW_MODE },
      { ...setting, milliseconds: 0 },
    ]
  }
  if (kind === 'leave') return [{ room, type: 'leave', sender: user }, back]
  if (kind === 'ban')
    return [
      { room, type: 'ban', sender: 'mod', target: user },
      { room, type: 'unban', sender: 'mod', target: user },
      back,
    ]
  return ['suspend', 'unsuspend'].map((type) => ({ room: GLOBAL, type, sender: 'mod', target: user }))
}
