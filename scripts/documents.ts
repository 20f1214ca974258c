import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { tiers } from '#server/kernel/limits/limits'
import { api, events } from '#shared/api/index'
import { namedRoomEvents, RoomEvent } from '#shared/api/rooms/room-events'
import { asyncapi } from '#shared/kit/asyncapi'
import { connectionEvents } from '#shared/kit/connection'
import { type Cost, commonErrors, type Named, operationsOf, scopeOf } from '#shared/kit/contract'
import { errorCodesOf, type Sources } from '#shared/kit/json-schema'
import { openapi } from '#shared/kit/openapi'

export const examplesFile = new URL('../docs/examples.json', import.meta.url)

export const readExamples = (): Sources['examples'] =>
  JSON.parse(readFileSync(examplesFile, 'utf8')) as Sources['examples']

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

export const operationsFile = new URL('../docs/api/operations.txt', import.meta.url)

const head = `# Every operation of shared/api, written by \`npm run docs\`.
# Columns: path, socket event, caller and scope of a service token, rate tier, cost, errors. \`=\` is another path of the same operation.
# Errors of every operation: ${commonErrors.slice(0, 7).join(' ')}
#   ${commonErrors.slice(7).join(' ')}
`

/** Wide enough for most; the columns of a line do not move those of the others. */
const widths = [47, 36, 6, 22, 9, 12]
const columns = (...cells: string[]) => cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' ')

/** A line an operation and a line an alias, in the order of their paths. */
export function operationList(): string {
  const lines = operationsOf(api).flatMap(linesOf)
  const sorted = lines.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  return `${head}\n${sorted.map((line) => `${line.trimEnd()}\n`).join('')}`
}

function linesOf({ name, operation }: Named): string[] {
  const { http, aliases = [], socket = '-', alsoOn = [], access, limit, cost } = operation
  const routes = [http, ...aliases.map((alias) => alias.http)].filter((route) => route !== undefined)
  const [path = '-', ...others] = routes.map((route) => route.replace(/^\w+/, (method) => method.padEnd(6)))
  const event = [socket, ...alsoOn].join(' ')
  const { own } = errorCodesOf(operation)
  const line = columns(path, event, access, scopeOf({ name, operation }), limit, costOf(cost), own.sort().join(' '))
  return [line, ...others.map((other) => columns(other, `= ${path}`))]
}

const costOf = (cost: Cost): string => (typeof cost === 'string' ? cost : Object.entries(cost).flat().join(' '))

/** By the path before the method; operations without a path come first, by their event. */
const orderOf = (line: string): string => line.replace(/^(\w+) +(\S+)/, '$2 $1')
