import { z } from 'zod'
import { type Api, expandRoute, type Operation, operationsOf, type Route } from './contract.ts'
import { fileOf, without } from './json-schema.ts'

/** An operation by the path that new clients use. */
export interface CanonicalOperation {
  /** As the documents call it: its name, and the kind of room where the path is of one. */
  id: string
  name: string
  operation: Operation
  /** What the request says beside a file. */
  input: z.ZodType
  answer: z.ZodType
  fixed?: { type: string }
}

export const documentId = (name: string, fixed?: { type: string }): string =>
  [name, ...(fixed ? [fixed.type] : [])].join('.')

/** Every operation with a path, by its own path, or by the first of its aliases. */
export const canonicalOperations = (api: Api): CanonicalOperation[] =>
  operationsOf(api).flatMap(({ name, operation }) => {
    const first = firstSpelling(operation)
    if (!first) return []
    const { route, answer } = first
    const { field } = fileOf(operation) ?? {}
    const input = field === undefined ? first.input : z.object(without(operation.input.shape, field) as z.ZodRawShape)
    return expandRoute(route).map(({ fixed }) => ({
      id: documentId(name, fixed),
      name,
      operation,
      input,
      answer,
      ...(fixed ? { fixed } : {}),
    }))
  })

function firstSpelling({ http, aliases = [], input, output }: Operation): {
  route: Route
  input: z.ZodType
  answer: z.ZodType
} | null {
  if (http) return { route: http, input, answer: output }
  const [alias] = aliases as readonly { http: Route; input?: z.ZodType; answer?: { schema: z.ZodType } }[]
  return alias ? { route: alias.http, input: alias.input ?? input, answer: alias.answer?.schema ?? output } : null
}
