import { parse } from 'graphql/language/parser.js'
import type { Node } from '#server/kernel/context'
import { described, type Tool } from './tool.ts'

const server = 'Platform'

/** The data of the platform, which every agent may look up; null where there is none. */
export function platformTool({ services: { platformData } }: Node, agent: string): Tool | null {
  if (!platformData) return null
  const parameters = {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'A GraphQL query; ask { __schema { types { name } } } for what there is' },
      variables: { type: 'object' },
    },
    required: ['query'],
  }
  return {
    server,
    name: 'graphql',
    shown: described(
      server,
      'data',
      ['Looks up data of the platform, by GraphQL. It reads, and changes nothing.'],
      parameters,
    ),
    key: JSON.stringify([agent, 'platform']),
    async run({ query, variables }, signal) {
      if (!isReading(String(query))) return { text: 'Only queries are allowed', isError: true }
      return {
        text: await platformData.query(String(query), (variables ?? {}) as Record<string, unknown>, signal),
        isError: false,
      }
    },
  }
}

/** Has the document queries alone? What is no GraphQL has none. */
export function isReading(document: string): boolean {
  try {
    return parse(document).definitions.every((one) => !('operation' in one) || String(one.operation) === 'query')
  } catch {
    return false
  }
}
