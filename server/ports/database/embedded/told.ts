import { setImmediate as breathe } from 'node:timers/promises'
import { shownIndex } from './indexes.ts'
import { treeKey } from './keys.ts'
import type { Storage } from './storage.ts'
import { createTally, type Sum } from './sums.ts'

/** Characters that are read and told before others have their turn: some milliseconds. */
const PIECE = 262_144

/**
 * The collections of one database as they are at one moment, as the lines of a backup: `#` begins a heading, any other line is a
 * document as it is stored. The last line holds the sums, so that what ends early is known.
 */
export async function* backupLines(storage: Storage, prefix: string): AsyncGenerator<string> {
  const moment = storage.moment()
  try {
    const sums: Record<string, Sum> = {}
    yield heading({ plaza: 'backup', format: 1, at: new Date().toISOString() })
    for (const [namespace, { tree, indexes }] of Object.entries(moment.catalog.collections)) {
      if (!namespace.startsWith(prefix)) continue
      const collection = namespace.slice(prefix.length)
      const shown = indexes.map(shownIndex).filter(({ name }) => name !== '_id_')
      yield heading({ collection, indexes: shown })
      const tally = createTally()
      let lines = ''
      for (const { value } of moment.scan(treeKey(tree), treeKey(tree + 1))) {
        tally.add(value)
        lines += `${value.toString()}\n`
        if (lines.length < PIECE) continue
        yield lines
        lines = ''
        await breathe()
      }
      yield lines
      sums[collection] = tally.sum()
    }
    yield heading({ sums })
  } finally {
    moment.release()
  }
}

const heading = (value: object): string => `#${JSON.stringify(value)}\n`
