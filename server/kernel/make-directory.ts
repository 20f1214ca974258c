import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a directory, and those above it, for its owner alone; tells whether it was not there. Throws what the system says of it.
 * Node's own way never ends where none can be made, as in `/proc`.
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
