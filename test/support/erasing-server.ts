import { createApp } from '#server/app'
import { readConfig } from '#server/config'
import { erasing, settling } from '#server/domains/platform/own-data/erasing'
import type { Job } from '#server/kernel/context'
import { declaredModels } from '#server/kernel/store/model'
import { openPlatform } from '#server/platform'

/**
 * A server in a process of its own, whose clock is `AHEAD` seconds ahead. It dies at the write number `DIES_AT` of an
 * erasure: before it if the number is odd, else after it.
 */
const { DIES_AT = '0', AHEAD = '0', ...environment } = process.env
const diesAt = Number(DIES_AT)
let erasuresNow = 0
let writes = 0

for (const declared of [erasing, settling] as Job[]) {
  const run = declared.run.bind(declared)
  declared.run = async (...work) => {
    erasuresNow += 1
    await run(...work).finally(() => {
      erasuresNow -= 1
    })
    console.log('A step of the erasure is done')
  }
}

const writing = ['insertOne', 'insertMany', 'updateOne', 'updateMany', 'deleteOne', 'deleteMany', 'bulkWrite'] as const
type Write = (...given: unknown[]) => Promise<unknown>
for (const { model } of declaredModels()) {
  const collection = model.collection as unknown as Record<string, Write>
  for (const name of [...writing, 'findOneAndUpdate']) {
    const write = collection[name]?.bind(collection)
    if (write) collection[name] = (...given) => counted(() => write(...given))
  }
}

async function counted(write: () => Promise<unknown>): Promise<unknown> {
  if (erasuresNow === 0 || ++writes !== diesAt) return write()
  if (diesAt % 2 === 0) await write()
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

const config = readConfig(environment)
const platform = await openPlatform(config)
await platform.database.buildIndexes()
const now = () => platform.database.now() + Number(AHEAD) * 1_000
const { url } = await createApp(config, { ...platform, database: { ...platform.database, now } })
console.log(`Plaza is open: ${url}`)
