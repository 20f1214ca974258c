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

/** Has the document queries alone? What operations do is said outside of all braces. */
export function isReading(document: string): boolean {
  const bare = document.replace(/"""(?:\\"""|(?!""")[\s\S])*"""|"(?:\\.|[^"\\\n])*"|#[^\n\r]*/g, ' ')
  // A text that does not end where the server thinks it ends would hide what follows.
  if (bare.includes('"')) return false
  let depth = 0
  let outside = ''
  for (const sign of bare) {
    if (sign === '{') depth++
    else if (sign === '}') depth--
    else if (depth === 0) outside += sign
    if (depth < 0) return false
  }
  return depth === 0 && !/\b(mutation|subscription)\b/.test(outside)
}
