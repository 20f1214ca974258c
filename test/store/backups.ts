import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { backUp } from '#server/ports/database/copies/index'

/** Makes several backups of a store, one after the other, as calls of the tool would; keeps the first. */
const [data = '', directory = '', times = ''] = process.argv.slice(2)
for (let at = 0; at < Number(times); at++) {
  const file = join(directory, `backup-${at}`)
  await backUp(data, file)
  if (at === 0) await rename(file, join(directory, 'first'))
  else await rm(file)
}
