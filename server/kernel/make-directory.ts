import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a directory with its parents, for its owner alone; true if it is new. It throws the system's error. `mkdir`
 * of Node with `recursive` never ends where none can be created, as in `/proc`.
 */
export async function makeDirectory(path: string): Promise<boolean> {
  try {
    return await make(path)
  } catch (error) {
    const parent = dirname(path)
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error
    await makeDirectory(parent)
    return make(path)
  }
}

async function make(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    if ((await stat(path)).isDirectory()) return false
    throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR', syscall: 'mkdir', path })
  }
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code
