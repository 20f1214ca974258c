import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { placeFor } from '../../scripts/test-servers.mjs'

const gibibyte = 2 ** 30

/** A directory that is removed when this process exits. */
export function directoryOfRun(): string {
  const directory = mkdtempSync(join(placeFor(gibibyte), 'plaza-faults-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** The same on a separate disk that can be filled; null if this user may not mount one. */
export function smallDisk(megabytes: number): string | null {
  const directory = directoryOfRun()
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', directory]
  if (spawnSync('mount', options).status !== 0) return null
  process.prependOnceListener('exit', () => spawnSync('umount', ['-l', directory]))
  return directory
}

/** Fills the disk of this directory for a while. */
export async function fill(directory: string, milliseconds: number): Promise<void> {
  const filler = join(directory, 'filler')
  const file = openSync(filler, 'w')
  try {
    for (const end = Date.now() + milliseconds; Date.now() < end; await pause(20)) fillUp(file, directory)
  } finally {
    closeSync(file)
    rmSync(filler)
  }
}

function fillUp(file: number, directory: string): void {
  const piece = Buffer.alloc(64 * 1_024)
  while (statfsSync(directory).bavail > 0) {
    try {
      writeSync(file, piece)
    } catch {
      return
    }
  }
}
