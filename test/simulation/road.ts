import type { LogStore, Records } from '#server/log/types'
import { memoryStore } from '#test/log/memory-store'
import type { Cluster } from './cluster.ts'
import type { Machine } from './machine.ts'

const TIMEOUT = 150

/** The database as a machine sees it: what is sent may be late, torn or answered wrongly, late or never. */
export function roadTo(cluster: Cluster, machine: Machine): { store: LogStore; records: Records } {
  const { world, profile, memory, kept } = cluster
  const goesWrong = (probability: number) => !cluster.isHealed && world.chance(probability)

  function reach<T>(work: () => T, isWrite: boolean): Promise<T> {
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
      world.after(world.between(0.2, 2) + lateness, () => {
        const outcome = outcomeOf(work)
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

  const store = memoryStore(memory, false, (_, work) => reach(work, false))
  return {
    store: {
      ...store,
      insert(rows) {
        const torn = goesWrong(profile.falseAnswer) ? Math.floor(world.between(0, rows.length)) : rows.length
        return reach(() => {
          for (const row of rows.slice(0, torn)) memory.insertOne(row)
          if (torn === rows.length) return
          if (goesWrong(profile.dozes)) cluster.pause(machine)
          throw new Error('The database stopped half-way.')
        }, true)
      },
    },
    records: {
      load: (room, keys) => reach(() => kept.load(room, keys), false),
      save: (room, changes) => reach(() => kept.save(room, changes), true),
    },
  }
}

function outcomeOf<T>(work: () => T): { value: T } | { error: unknown } {
  try {
    return { value: work() }
  } catch (error) {
    return { error }
  }
}
