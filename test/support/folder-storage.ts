import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'

/** A storage in a folder, which all nodes of a test share; the folder goes with the process. */
export function folderStorage(): Promise<Storage> {
  const folder = mkdtempSync(join(tmpdir(), 'plaza-files-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return localStorage(folder)
}
