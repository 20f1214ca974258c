import { z } from 'zod'
import type { ReadDocument } from './port.ts'

const Introspected = z.object({
  data: z.object({
    __schema: z.object({
      types: z.array(
        z.object({
          kind: z.string(),
          name: z.string(),
          fields: z
            .array(z.object({ name: z.string(), args: z.array(z.object({ name: z.string() })).nullish() }))
            .nullish(),
        }),
      ),
    }),
  }),
})

function graphqlOf(answer: unknown): string | null {
  const read = Introspected.safeParse(answer).data
  if (!read) return null
  const types = read.data.__schema.types.filter(({ kind, name }) => kind === 'OBJECT' && !name.startsWith('__'))
  const lines = types.map(({ name, fields }) => {
    const names = (fields ?? []).map((field) => {
      const given = (field.args ?? []).map((argument) => argument.name).join(', ')
      return given ? `${field.name}(${given})` : field.name
    })
    return `${name} { ${names.join(' ')} }`
  })
  return lines.join('\n')
}

const methods = ['get', 'post', 'put', 'patch', 'delete']
const Document = z.union([z.object({ openapi: z.string() }), z.object({ swagger: z.string() })])
const Paths = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

function openapiOf(answer: unknown): string | null {
  if (!Document.safeParse(answer).success) return null
  const paths = Object.entries(Paths.safeParse(answer).data?.paths ?? {})
  const lines = paths.flatMap(([path, item]) =>
    methods.flatMap((method) => {
      if (!(method in item)) return []
      const summary = z.object({ summary: z.string() }).safeParse(item[method]).data?.summary ?? ''
      return `${method.toUpperCase()} ${path} ${summary}`.trim()
    }),
  )
  return lines.join('\n')
}

/** The operations of an API by its introspection or its document; the title is its kind. Throws for other texts. */
export function readApi(text: string): ReadDocument {
  const answer: unknown = JSON.parse(text)
  const graphql = graphqlOf(answer)
  const schema = graphql ?? openapiOf(answer)
  if (schema === null) throw new Error('It describes no API')
  return { title: graphql === null ? 'openapi' : 'graphql', text: schema, links: [], base: null }
}
