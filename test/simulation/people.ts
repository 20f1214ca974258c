import { GLOBAL } from '#server/log/index'
import type { Act, Outcome, RoomKey } from '#server/log/types'
import { AppError } from '#shared/errors'
import { edit, join, leave, moderate, say, slow } from '#test/log/chat'
import type { Cluster, Machine } from './cluster.ts'
import type { History } from './history.ts'
import { Reader } from './reader.ts'
import type { World } from './world.ts'

const PATIENCE = 3_500

/** Everybody who uses the cluster: they send, edit, moderate and read, and try again with the same key until they know. */
export class People {
  readonly rooms: readonly RoomKey[] = ['busy', 'quiet']
  readonly users = ['ada', 'bo', 'cy', 'di', 'eve']
  readonly readers: Reader[] = []
  readonly #cluster: Cluster
  readonly #history: History
  #isOver = false
  #cids = 0

  constructor(cluster: Cluster, history: History) {
    this.#cluster = cluster
    this.#history = history
  }

  start(): void {
    for (const room of this.rooms) {
      const pause = room === 'busy' ? 40 : 800
      for (const user of this.users) {
        void this.#send(user, room, pause)
        const reader = new Reader(user, room)
        this.readers.push(reader)
        void this.#read(reader)
      }
    }
    void this.#burst('ada', 'busy')
    void this.#moderate()
    void this.#moderate()
  }

  stop(): void {
    this.#isOver = true
  }

  async #send(user: string, room: RoomKey, pause: number): Promise<void> {
    const { world } = this.#cluster
    await this.#do(room, join(user, this.#cid()))
    while (!this.#isOver) {
      await world.sleep(world.between(1, pause))
      const sent = await this.#do(room, say(user, this.#cid()))
      if (!sent?.row || !world.chance(0.15)) continue
      const { _id } = sent.row
      for (const version of [1, 2]) {
        await Promise.all([
          this.#do(room, edit(user, _id, version, this.#cid())),
          this.#do(room, edit(user, _id, version, this.#cid())),
        ])
      }
    }
  }

  async #burst(user: string, room: RoomKey): Promise<void> {
    const { world } = this.#cluster
    while (!this.#isOver) {
      await world.sleep(world.between(300, 900))
      await Promise.all(Array.from({ length: 12 }, () => this.#do(room, say(user, this.#cid()))))
    }
  }

  /** Does something to somebody, and after a while undoes it. */
  async #moderate(): Promise<void> {
    const { world } = this.#cluster
    while (!this.#isOver) {
      await world.sleep(world.between(50, 250))
      const [room, user] = [world.pick(this.rooms), world.pick(this.users)]
      const kind = world.pick(['ban', 'suspend', 'suspend', 'leave', 'slow'])
      const isGlobal = kind === 'suspend'
      if (kind === 'slow') await this.#do(room, slow(60, this.#cid()))
      else if (kind === 'leave') await this.#do(room, leave(user, this.#cid()))
      else await this.#do(isGlobal ? GLOBAL : room, moderate(kind, user, this.#cid()))
      await world.sleep(world.between(1, 100))
      if (kind === 'slow') await this.#do(room, slow(0, this.#cid()))
      else if (isGlobal) await this.#do(GLOBAL, moderate('unsuspend', user, this.#cid()))
      else if (kind === 'ban') await this.#do(room, moderate('unban', user, this.#cid()))
      if (!isGlobal && kind !== 'slow') await this.#do(room, join(user, this.#cid()))
    }
  }

  async #read(reader: Reader): Promise<void> {
    const { world } = this.#cluster
    while (!this.#isOver) {
      await world.sleep(world.between(1, 40))
      const machine = this.#cluster.any()
      await within(PATIENCE, world, reader.attach(machine)).catch(() => {})
      const end = world.now + world.between(200, 2_500)
      while (reader.isAttached && !machine.isDead && world.now < end && !this.#isOver) await world.sleep(10)
      reader.detach()
    }
  }

  /** One act, tried on one node after another until somebody answers. */
  async #do(room: RoomKey, act: Act<'already'>): Promise<Outcome<'already'> | null> {
    const { world } = this.#cluster
    const began = world.now
    for (let tries = 0; tries < 20; tries++) {
      try {
        const outcome = await within(PATIENCE, world, this.#call(this.#cluster.any(), room, act))
        this.#history.answered({ room, act, began, ended: world.now, outcome, code: null, isSure: tries === 0 })
        return outcome
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (error.code !== 'SERVICE_UNAVAILABLE') {
          this.#history.answered({
            room,
            act,
            began,
            ended: world.now,
            outcome: null,
            code: error.code,
            isSure: tries === 0,
          })
          return null
        }
        await world.sleep(5)
      }
    }
    return null
  }

  #call(machine: Machine, room: RoomKey, act: Act<'already'>): Promise<Outcome<'already'>> {
    return new Promise((resolve, reject) => {
      machine.after(this.#cluster.world.between(0.1, 1), () => machine.log.act(room, act).then(resolve, reject))
    })
  }

  #cid(): string {
    return `c${++this.#cids}`
  }
}

function within<T>(milliseconds: number, world: World, work: Promise<T>): Promise<T> {
  const late = world.sleep(milliseconds).then(() => Promise.reject(new AppError('SERVICE_UNAVAILABLE')))
  late.catch(() => {})
  return Promise.race([work, late])
}
