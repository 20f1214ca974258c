import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import mongoose from 'mongoose'

/** All that the store holds, as text. */
export async function storedText(): Promise<string> {
  const found: unknown[] = []
  for (const model of Object.values(mongoose.models)) found.push(await model.find({}).lean())
  return JSON.stringify(found)
}

/** Every file below a folder, but those that go away meanwhile. */
export const filesUnder = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    const found = statSync(path, { throwIfNoEntry: false })
    return found?.isDirectory() ? filesUnder(path) : found?.isFile() ? [path] : []
  })
