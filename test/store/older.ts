import { openEnvironment } from '#server/ports/database/embedded/environment'
import { treeKey } from '#server/ports/database/embedded/keys'
import { lockDirectory } from '#server/ports/database/embedded/lock'
import { unseal } from '#server/ports/database/embedded/seal'
import type { Catalog } from '#server/ports/database/embedded/storage'

/** Makes of a store what the version before this one would have written: rows without checksums, and no counts. */
export async function makeOlder(directory: string): Promise<void> {
  const lock = await lockDirectory(directory)
  const environment = await openEnvironment(lock)
  const catalogKey = Buffer.of(0, 0)
  const { format: _, ...catalog }: Catalog = JSON.parse(String(environment.get(catalogKey)))
  await environment.childTransaction(() => {
    environment.putSync(catalogKey, Buffer.from(JSON.stringify(catalog)))
    for (const key of Array.from(environment.getKeys({ start: Buffer.of(0, 0, 0), end: treeKey(1) })))
      environment.removeSync(key)
    for (const { tree } of Object.values(catalog.collections)) {
      const rows = Array.from(environment.getRange({ start: treeKey(tree), end: treeKey(tree + 1) }))
      for (const { key, value } of rows) environment.putSync(key, unseal(key, value))
    }
  })
  await environment.close()
  await lock.release()
}
