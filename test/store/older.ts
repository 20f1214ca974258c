import { treeKey } from '#server/ports/database/embedded/keys'
import { unseal } from '#server/ports/database/embedded/seal'
import { CATALOG, catalogIn } from '#server/ports/database/embedded/tallies'
import { tampered } from './directories.ts'

/** Converts a store to the format of the first version: documents without checksums, and no counts. */
export async function makeOlder(directory: string): Promise<void> {
  await tampered(directory, (environment) => {
    const { format: _, ...catalog } = catalogIn(environment.get(CATALOG) ?? Buffer.of())
    environment.putSync(CATALOG, Buffer.from(JSON.stringify(catalog)))
    for (const key of Array.from(environment.getKeys({ start: Buffer.of(0, 0, 0), end: treeKey(1) })))
      environment.removeSync(key)
    for (const { tree } of Object.values(catalog.collections)) {
      const rows = Array.from(environment.getRange({ start: treeKey(tree), end: treeKey(tree + 1) }))
      for (const { key, value } of rows) environment.putSync(key, unseal(key, value))
    }
  })
}
