import { vi } from 'vitest'
import { Table } from '#server/ports/database/embedded/table'

/** How many documents the embedded store reads while something is done. */
export async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const read = vi.spyOn(Table.prototype, 'read')
  try {
    await work()
    return read.mock.calls.length
  } finally {
    read.mockRestore()
  }
}
