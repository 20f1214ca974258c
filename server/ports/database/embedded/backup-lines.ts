import { setImmediate as breathe } from 'node:timers/promises'
import { entriesOf, entryKey, type Index, openIndex, shownIndex } from './indexes.ts'
import { TREE_BYTES, treeKey } from './keys.ts'
import { Damaged, unseal } from './seal.ts'
import type { Moment, Slot, Storage } from './storage.ts'
import { createTally, type Sum } from './sums.ts'
import { decode } from './values.ts'

/** Characters that are read and sent before others take turns: some milliseconds. */
const PIECE = 262_144
const SLICE_MS = 8
const MOST_FAULTS = 10

/**
 * The collections of one database, or one of them, at one moment, as lines of a backup. `#` begins a heading, and any other
 * line is a stored document. The last line has the sums, which show a cut; the tool adds the files.
 */
export async function* backupLines(storage: Storage, prefix: string, only?: string): AsyncGenerator<string> {
  const moment = storage.moment()
  try {
    const sums: Record<string, Sum> = {}
    yield heading({ plaza: 'backup', format: 3, at: new Date().toISOString() })
    for (const [namespace, { tree, indexes }] of Object.entries(moment.catalog.collections)) {
      if (!namespace.startsWith(prefix)) continue
      const collection = namespace.slice(prefix.length)
      if (only !== undefined && collection !== only) continue
      const shown = indexes.map(shownIndex).filter(({ name }) => name !== '_id_')
      yield heading({ collection, indexes: shown })
      const tally = createTally()
      let lines = ''
      for (const { key, value } of moment.scan(treeKey(tree), treeKey(tree + 1))) {
        const document = unseal(key, value)
        tally.add(document)
        lines += `${document.toString()}\n`
        if (lines.length < PIECE) continue
        yield lines
        lines = ''
        await breathe()
      }
      for (const { bytes } of moment.waiting(namespace)) {
        tally.add(bytes)
        lines += `${bytes.toString()}\n`
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

/** Reads everything: each row against its checksum, each index against the rows. A line a collection; throws what was found. */
export async function* verifyLines(storage: Storage): AsyncGenerator<string> {
  const moment = storage.moment()
  try {
    const faults: string[] = []
    for (const [namespace, { tree, indexes }] of Object.entries(moment.catalog.collections)) {
      const opened = indexes.map(openIndex)
      const entries = new Map(opened.map(({ record }) => [record.tree, 0]))
      let documents = 0
      for await (const slot of inSlices(moment, tree)) {
        if (!slot) yield '\n'
        else documents++
        const fault = slot && faultOf(moment, opened, slot, entries)
        if (fault) faults.push(`${namespace}: ${fault}`)
      }
      const trees = [{ name: 'documents', tree, wanted: documents }]
      for (const { record } of opened) trees.push({ ...record, wanted: entries.get(record.tree) ?? 0 })
      for (const { name, tree, wanted } of trees) {
        let found = 0
        for await (const slot of inSlices(moment, tree)) {
          if (!slot) yield '\n'
          else found++
        }
        const kept = moment.tallyOf(tree).count
        if (wanted !== found || found !== kept)
          faults.push(`${namespace} (${name}): ${wanted} by its documents, ${found} found, ${kept} put in`)
      }
      const waiting = moment.waiting(namespace).length
      yield `${namespace}: ${documents + waiting} documents, ${indexes.length} indexes\n`
    }
    const more = faults.length > MOST_FAULTS ? ` and ${faults.length - MOST_FAULTS} more` : ''
    if (faults.length > 0) throw new Damaged(`${faults.slice(0, MOST_FAULTS).join('; ')}${more}`)
  } finally {
    moment.release()
  }
}

/** The slots of a tree, with nothing in between where others have had their turn. */
async function* inSlices(moment: Moment, tree: number): AsyncGenerator<Slot | undefined> {
  let end = performance.now() + SLICE_MS
  for (const slot of moment.scan(treeKey(tree), treeKey(tree + 1))) {
    yield slot
    if (performance.now() < end) continue
    yield
    await breathe()
    end = performance.now() + SLICE_MS
  }
}

/** What is wrong with a row or with its entries, which are counted. */
function faultOf(moment: Moment, indexes: readonly Index[], slot: Slot, counts: Map<number, number>): string | null {
  const row = slot.key.subarray(TREE_BYTES)
  try {
    const document = decode(unseal(slot.key, slot.value))
    for (const index of indexes) {
      const { entries } = entriesOf(index, document)
      counts.set(index.record.tree, (counts.get(index.record.tree) ?? 0) + entries.length)
      const isMissing = entries.some((entry) => !moment.slot(entryKey(index, entry, row))?.value.equals(row))
      if (isMissing) return `${document._id} is missing in the index ${index.record.name}`
    }
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
