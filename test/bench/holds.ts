import { rmSync } from 'node:fs'
import { openEmbedded } from '#server/ports/database/embedded'
import { fill, LONGEST_HOLD_MS, workOn } from '#test/store/million'
import { directoryOfRun } from './processes.ts'
import type { Report } from './report.ts'

/** The longest time for which an operation of the embedded store on many messages blocks the event loop. */
export async function measureHolds(report: Report, messages: number): Promise<void> {
  const directory = directoryOfRun()
  const store = await openEmbedded(directory)
  try {
    const collection = store.db().collection('messages')
    const tell = (what: string, milliseconds: number) => {
      const name = `longest hold of the loop among ${messages.toLocaleString('en')} messages, ms: ${what}`
      report.tell({ nodes: 1, store: 'embedded', name, value: milliseconds, target: LONGEST_HOLD_MS })
    }
    const { what, milliseconds } = await fill(collection, messages)
    tell(what, milliseconds)
    for await (const held of workOn(collection, messages)) tell(held.what, held.milliseconds)
  } finally {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  }
}
