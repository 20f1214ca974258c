import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '#server/kernel/make-directory'

/** What outlives the engine of a stream. Of its key only a digest is kept. */
export interface StreamRow {
  streamId: string
  playbackId: string
  digest: string
  record: boolean
  isLive: boolean
  /** In rows of earlier versions, which kept what had ended. */
  isEnded?: boolean
}

export interface Registry {
  rows: readonly StreamRow[]
  keep(row: StreamRow): Promise<void>
  remove(streamId: string): Promise<void>
}

/** A file for each stream. */
export async function openRegistry(directory: string): Promise<Registry> {
  await makeDirectory(directory)
  const place = (streamId: string) => join(directory, `${streamId}.json`)
  const rows: StreamRow[] = []
  for (const file of await readdir(directory)) {
    if (!file.endsWith('.json')) continue
    const row = await readFile(join(directory, file), 'utf8').then(parse, () => null)
    if (row) rows.push(row)
  }
  let last: Promise<void> = Promise.resolve()
  const inTurn = (act: () => Promise<void>): Promise<void> => {
    const done = last.then(act)
    last = done.catch(() => undefined)
    return done
  }
  return {
    rows,
    keep: (row) =>
      inTurn(async () => {
        await writeFile(`${place(row.streamId)}.new`, JSON.stringify(row), { mode: 0o600, flush: true })
        await rename(`${place(row.streamId)}.new`, place(row.streamId))
      }),
    remove: (streamId) => inTurn(() => rm(place(streamId), { force: true })),
  }
}

function parse(text: string): StreamRow | null {
  try {
    return JSON.parse(text) as StreamRow
  } catch {
    return null
  }
}
