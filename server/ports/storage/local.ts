import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { makeDirectory } from '#server/kernel/make-directory'
import { AppError } from '#shared/errors'
import { bytesOf, isKey, type ListedBlob, type Storage } from './port.ts'

/** Simultaneous writes: more would only block the disk. */
const putsAtOnce = 2

/** A folder for one process, with a file per blob. Unfinished files lie apart, and some disk space is left free. */
export async function localStorage(folder: string, reserveBytes = 0): Promise<Storage> {
  const unfinished = join(folder, '.unfinished')
  await rm(unfinished, { recursive: true, force: true })
  await makeDirectory(unfinished)
  const inTurn = fewAtOnce(putsAtOnce)
  const pathOf = (key: string) => join(folder, ...key.split('/'))
  return {
    name: 'a folder',
    async put(key, blob) {
      if (!isKey(key)) throw new Error(`Not a key: ${key}`)
      const path = pathOf(key)
      const written = join(unfinished, randomUUID())
      const write = async () => {
        try {
          const file = await open(written, 'wx', 0o600)
          await pipeline(bytesOf(blob), file.createWriteStream({ flush: true }))
          await makeFolders(folder, dirname(path))
          await rename(written, path)
          await sync(dirname(path))
        } catch (error) {
          await rm(written, { force: true })
          throw error
        }
      }
      await whileThere(async () => {
        await refuseFull(folder, reserveBytes + blob.size)
        await inTurn(write)
      })
    },
    async read(key, range) {
      const size = await sizeOf(key)
      return size === null ? null : { size, bytes: createReadStream(pathOf(key), range) }
    },
    sizeOf,
    remove: (key) => whileThere(async () => (isKey(key) ? rm(pathOf(key), { force: true }) : undefined)),
    removeUnfinished: (before) => whileThere(() => removeOld(unfinished, before)),
    list: (bucket) => filesIn(folder, bucket),
  }

  async function sizeOf(key: string): Promise<number | null> {
    if (!isKey(key)) return null
    return whileThere(async () => {
      const file = await stat(pathOf(key)).catch(unlessMissing)
      return file?.isFile() ? file.size : null
    })
  }
}

/** A folder is found after a crash only once the folder that holds it is synced. */
async function makeFolders(root: string, folder: string): Promise<void> {
  if (!(await makeDirectory(folder))) return
  for (let at = folder; at.length >= root.length; at = dirname(at)) await sync(at)
}

async function sync(folder: string): Promise<void> {
  const opened = await open(folder)
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}

async function refuseFull(folder: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < neededBytes)
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'There is no room for files at the moment' })
}

async function removeOld(folder: string, before: Date): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = await stat(join(folder, name)).catch(unlessMissing)
    if (file && file.mtime < before) await rm(join(folder, name), { force: true })
  }
}

async function* filesIn(root: string, bucket: string): AsyncIterable<ListedBlob> {
  const entries = await readdir(join(root, bucket), { recursive: true, withFileTypes: true }).catch(unlessMissing)
  for (const entry of entries ?? []) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const file = await stat(path).catch(unlessMissing)
    if (file) yield { key: relative(root, path).split(sep).join('/'), size: file.size, storedAt: file.mtime }
  }
}

function unlessMissing(error: unknown): null {
  if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
  throw error
}

async function whileThere<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('UPSTREAM_ERROR', { message: 'Files cannot be stored at the moment', cause: error })
  }
}
