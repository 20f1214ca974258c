import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { tiers } from '#server/kernel/limits/limits'
import { api, events } from '#shared/api/index'
import { namedRoomEvents, RoomEvent } from '#shared/api/rooms/room-events'
import { asyncapi } from '#shared/kit/asyncapi'
import { connectionEvents } from '#shared/kit/connection'
import { openapi } from '#shared/kit/openapi'
import { readExamples } from './examples/file.ts'

const contractFolder = new URL('../shared/api/', import.meta.url)

/** The text of both documents of the API, by the name of their file. */
export async function documents(): Promise<Record<string, string>> {
  const sources = { named: await namedSchemas(), tiers, examples: readExamples() }
  const written = {
    'openapi.json': openapi(api, sources),
    'asyncapi.json': asyncapi(api, { ...connectionEvents, ...events }, sources),
  }
  return Object.fromEntries(
    Object.entries(written).map(([name, document]) => [name, `${JSON.stringify(document, null, 1)}\n`]),
  )
}

const isNoun = (schema: unknown): schema is z.ZodType =>
  schema instanceof z.ZodObject || schema instanceof z.ZodIntersection || schema === RoomEvent

/** Exported schemas of the contract with several fields are named in the documents; the first name wins. */
async function namedSchemas(): Promise<Record<string, z.ZodType>> {
  const named: Record<string, z.ZodType> = { ...namedRoomEvents }
  const files = readdirSync(contractFolder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  for (const file of files.sort((one, other) => (basename(one) < basename(other) ? -1 : 1))) {
    const exported = Object.entries((await import(new URL(file, contractFolder).href)) as Record<string, unknown>)
    for (const [name, schema] of exported.sort(([one], [other]) => (one < other ? -1 : 1)))
      if (isNoun(schema)) named[name] ??= schema
  }
  return named
}
