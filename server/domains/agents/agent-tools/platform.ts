import { parse } from 'graphql/language/parser.js'
import type { Node } from '#server/kernel/context'
import { describedTool, type Tool } from './tool.ts'

const server = 'Platform'

/** The tool for platform data, which every agent may query; null without any. */
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
    shown: describedTool(
      server,
      'data',
      ['Looks up data of the platform, by GraphQL. It reads, and changes nothing.'],
      parameters,
    ),
    key: JSON.stringify([agent, 'platform']),
    async run({ query, variables }, signal) {
      if (!isReadingQuery(String(query))) return { text: 'Only queries are allowed', isError: true }
      return {
        text: await platformData.query(String(query), (variables ?? {}) as Record<string, unknown>, signal),
        isError: false,
      }
    },
  }
}

/** Whether a document has queries alone. Invalid GraphQL has none. */
export function isReadingQuery(document: string): boolean {
  try {
    return parse(document).definitions.every((one) => !('operation' in one) || String(one.operation) === 'query')
  } catch {
    return false
  }
}
