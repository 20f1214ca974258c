import { type ErrorCode, errorHeaders, errors } from '#shared/errors'
import type { ErrorBody, Named, Operation } from './contract.ts'
import { errorCodesOf, type JsonSchema } from './json-schema.ts'

export const deprecationHeaders = refsTo('Deprecation', 'Link')
export const rateHeaders = refsTo('X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset')

export const headers = {
  'X-RateLimit-Limit': { description: 'Calls a minute in this tier.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Calls left now.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'Unix seconds when a call is free again.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  ETag: { description: 'Names what is answered, for `If-None-Match`.', schema: { type: 'string' } },
  [errorHeaders.code]: {
    description: 'The code of the refusal, whatever the shape of its body.',
    schema: { $ref: '#/components/schemas/ErrorCode' },
  },
  [`${errorHeaders.shape}.text`]: { description: 'The body is a `TextError`.', schema: { const: 'text' } },
  [`${errorHeaders.shape}.coded`]: { description: 'The body is a `CodedError`.', schema: { const: 'coded' } },
  Deprecation: {
    description: 'Since when this path is deprecated: `@` and Unix seconds (RFC 9745).',
    schema: { type: 'string', pattern: '^@[0-9]+$' },
  },
  Link: {
    description: 'The path to ask instead, as `<path>; rel="successor-version"`, where what stands in it is known.',
    schema: { type: 'string' },
  },
}

export interface RefusalWriter {
  /** Answers by status. Where operations refuse alike, they refer to one answer. */
  of(declared: Named, shape: ErrorBody): JsonSchema
  components(): Record<string, JsonSchema>
}

export function refusalWriter(): RefusalWriter {
  const names = new Map<string, string>()
  const known: Record<string, JsonSchema> = {}
  return {
    of({ name, operation }, shape) {
      const { own, all } = errorCodesOf(operation)
      const has = (code: ErrorCode, status: number) => statusesOf(operation, code).includes(status)
      const statuses = [...new Set(all.flatMap((code) => statusesOf(operation, code)))].sort(
        (one, other) => one - other,
      )
      const answers = statuses.map((status) => {
        const isOwn = own.some((code) => has(code, status))
        const fitting = all.filter((code) => has(code, status))
        const answer = refusal(status, fitting, shape)
        const text = JSON.stringify(answer)
        const key = names.get(text) ?? `${schemaNames[shape]}${status}${isOwn ? `.${name}` : ''}`
        names.set(text, key)
        known[key] = answer
        return [status, { $ref: `#/components/responses/${key}` }]
      })
      return Object.fromEntries(answers)
    },
    components: () => known,
  }
}

const schemaNames = { text: 'TextError', coded: 'CodedError' } as const
const statusesOf = ({ statuses = {} }: Operation, code: ErrorCode): readonly number[] =>
  statuses[code] ?? [errors[code][0]]

/** The headers of a refusal with a body of this shape. */
export const shapeHeaders = (shape: ErrorBody): JsonSchema => ({
  ...refsTo(errorHeaders.code),
  [errorHeaders.shape]: { $ref: `#/components/headers/${errorHeaders.shape}.${shape}` },
})

function refusal(status: number, codes: readonly ErrorCode[], shape: ErrorBody): JsonSchema {
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code][1]}`).join('\n\n'),
    headers: {
      ...rateHeaders,
      ...shapeHeaders(shape),
      ...(status === 429 || status === 503 ? refsTo('Retry-After') : {}),
    },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schemaNames[shape]}` } } },
  }
}

function refsTo(...names: (keyof typeof headers)[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
