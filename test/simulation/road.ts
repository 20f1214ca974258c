import { records } from '#server/domains/rooms/room-state/records'
import type { LogStore, Records } from '#server/log/types'
import { type Memory, memoryStore } from '#test/log/memory-store'
import type { Cluster } from './cluster.ts'
import type { Machine } from './machine.ts'
import { isWrite, NoMajority } from './split.ts'

const TIMEOUT = 150

/** The error of an encoder for a value that it cannot encode, before anything is sent. */
export class NotEncodable extends Error {}
export const POISON = 'poison'

/** The database as a machine sees it: writes may be late or partial, and answers wrong, late or lost. */
export function roadTo(cluster: Cluster, machine: Machine): { store: LogStore; records: Records } {
  const { world, profile, database } = cluster
  const { memory } = database
  const goesWrong = (probability: number) => !cluster.isHealed && world.chance(probability)

  function reach<T>(work: () => T | Promise<T>, isWrite: boolean): Promise<T> {
    const lateness = isWrite && goesWrong(profile.late) ? world.within(profile.lateness) : 0
    const isFalse = isWrite && goesWrong(profile.falseAnswer)
    const isLost = goesWrong(profile.lostAnswer)
    const answerLateness = goesWrong(machine.isCold ? profile.lateWhenCold : profile.lateAnswer)
      ? world.within(profile.lateness)
      : 0
    return new Promise((resolve, reject) => {
      const timeout = machine.after(TIMEOUT, () => reject(new Error('No answer from the database.')))
      const answer = (settle: () => void) => {
        timeout.run = null
        settle()
      }
      world.after(world.between(0.2, 2) + lateness, async () => {
        const outcome = await outcomeOf(work)
        if (isLost) return
        const settle = () => {
          if (isFalse) reject(new Error('The database says that it failed.'))
          else if ('error' in outcome) reject(outcome.error)
          else resolve(outcome.value)
        }
        machine.after(world.between(0.1, 1) + answerLateness, () => answer(settle))
      })
    })
  }

  const readsMajority = cluster.without !== 'read what the majority has'
  const seen = (): Memory => (machine.split && readsMajority ? machine.split.frozen : (machine.split?.own ?? memory))
  const there: Parameters<typeof memoryStore>[0] = {
    log: (room) => seen().log(room),
    byCid: (...key) => seen().byCid(...key),
    insertOne: (row) => (machine.split?.own ?? memory).insertOne(row),
    get heads() {
      return seen().heads
    },
    get leases() {
      return seen().leases
    },
  }
  const store = memoryStore(there, false, (name, work) =>
    reach(() => {
      if (machine.split && isWrite(name)) throw new NoMajority()
      return work()
    }, false),
  )
  return {
    store: {
      ...store,
      async insert(rows) {
        if (rows.some(({ body }) => body.text === POISON)) throw new NotEncodable()
        const torn = goesWrong(profile.falseAnswer) ? Math.floor(world.between(0, rows.length)) : rows.length
        return reach(() => {
          for (const row of rows.slice(0, torn)) there.insertOne(row)
          if (machine.split) throw new NoMajority()
          if (torn === rows.length) return
          if (goesWrong(profile.dozes)) cluster.pause(machine)
          throw new Error('The database stopped half-way.')
        }, true)
      },
    },
    records: {
      load: (room, keys) => reach(() => database.load(room, keys, machine.split?.tables), false),
      save(room, changes) {
        const isTorn = goesWrong(profile.tornRecords)
        const whole = isTorn ? changes.filter(() => world.chance(0.5)) : changes
        return reach(async () => {
          if (machine.split) throw new NoMajority()
          await records.save(room, whole)
          if (isTorn && cluster.without !== 'say what was not written') throw new Error('Some were not written.')
        }, true)
      },
    },
  }
}

async function outcomeOf<T>(work: () => T | Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await work() }
  } catch (error) {
    return { error }
  }
}
