import { createHash } from 'node:crypto'
import type { StoredApi } from '#server/domains/agent-state/model'

/** Whether calling an API changes what is there, by its method. */
export const isChange = ({ method }: Pick<StoredApi, 'method'>): boolean => method !== 'GET' && method !== 'POST'

/** Whether its owner lets an API be called. */
export const isAllowed = (api: StoredApi): boolean => !isChange(api) || api.allow_changes === true

const inBraces = /%7B(\w{1,64})%7D/gi

/** What is filled in the path of a URL: `{id}` in `https://example.com/items/{id}`. */
export const namesInPath = (url: string): string[] => [
  ...new Set([...new URL(url).pathname.matchAll(inBraces)].map(([, name = '']) => name)),
]

/** Null where something is missing, or would lead to another path. */
export function withPath(url: string, given: Readonly<Record<string, unknown>>): string | null {
  const filled = new URL(url)
  const values = namesInPath(url).map((name) => [name, String(given[name] ?? '')] as const)
  if (values.some(([, value]) => /^\.{0,2}$/.test(value) || !value.isWellFormed())) return null
  const known = new Map(values)
  filled.pathname = filled.pathname.replace(inBraces, (_, name: string) => encodeURIComponent(known.get(name) ?? ''))
  return filled.href
}

/** The same for the same call to the same question, so that the API can tell a repeat from another call. */
export const keyOfCall = (question: readonly string[], tool: string, given: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([...question, tool, given]))
    .digest('base64url')
