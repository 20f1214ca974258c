import { readFileSync } from 'node:fs'
import type { Sources } from '#shared/kit/json-schema'

export const examplesFile = new URL('../../docs/examples.json', import.meta.url)

export const readExamples = (): Sources['examples'] =>
  JSON.parse(readFileSync(examplesFile, 'utf8')) as Sources['examples']
