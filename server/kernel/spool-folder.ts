import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDirectory } from './make-directory.ts'

/** A folder of another machine may be in use, until nothing was written for this long. */
const forgottenMilliseconds = 24 * 3_600_000

/**
 * A folder of this process below `wanted`, after removal of those of dead processes. If nothing can be written there,
 * it is in the temporary folder.
 */
export async function openSpoolFolder(wanted: string, now: () => number): Promise<string> {
  const make = async (folder: string) => {
    await makeDirectory(folder)
    return folder
  }
  const parent = await make(wanted).catch(() => make(join(tmpdir(), 'plaza-receiving')))
  const own = `${hostname().replace(/[^\w-]/g, '_')}.`
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    const isLeft = name.startsWith(own) ? await isDead(name, path) : await isForgotten(path, now())
    if (isLeft) await rm(path, { recursive: true, force: true })
  }
  return mkdtemp(join(parent, `${own}${process.pid}.`))
}

/** A reused process number: the process began after the folder was made. */
async function isDead(name: string, path: string): Promise<boolean> {
  const pid = Number(name.split('.')[1])
  const found = await stat(path).catch(() => null)
  if (pid === process.pid) return found !== null && found.mtimeMs < performance.timeOrigin
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

async function isForgotten(path: string, now: number): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && found.mtimeMs < now - forgottenMilliseconds
}
