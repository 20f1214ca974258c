import { stemsOf } from './local-embedder.ts'
import type { ModelTool } from './port.ts'
import { sharedWith } from './scripted-hearing.ts'

/** The tool whose name, description and parameters have most in common with the message; none where nothing speaks for one. */
export function pickTool(tools: readonly ModelTool[], message: string): ModelTool | null {
  const wanted = new Set(stemsOf(message))
  const rated = tools.map((tool) => {
    const named = sharedWith(wanted, tool.name.replace(/[_-]/g, ' ').replace(/(?<=[a-z])(?=[A-Z])/g, ' '))
    const parameters = Object.keys(propertiesOf(tool.parameters)).join(' ')
    return { tool, score: 2 * named + sharedWith(wanted, `${tool.description} ${parameters}`) }
  })
  const [best] = rated.sort((one, other) => other.score - one.score)
  return best && best.score >= 2 ? best.tool : null
}

/** Arguments that a schema asks for, as far as a message has them. */
export function argumentsFor(schema: Readonly<Record<string, unknown>>, message: string): Record<string, unknown> {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = Object.entries(propertiesOf(schema))
  // Where nothing is required, the first is most likely what the tool is about.
  const wanted = properties.filter(([name], at) => (required.length > 0 ? required.includes(name) : at === 0))
  return Object.fromEntries(wanted.map(([name, property]) => [name, valueFor(property, message)]))
}

function valueFor(property: Readonly<Record<string, unknown>>, message: string): unknown {
  if (Array.isArray(property.enum))
    return (
      property.enum.find((value) => message.toLowerCase().includes(String(value).toLowerCase())) ?? property.enum[0]
    )
  if (property.type === 'integer' || property.type === 'number') {
    const found = Number(/-?\d+(\.\d+)?/.exec(message)?.[0] ?? property.minimum ?? 1)
    return property.type === 'integer' ? Math.trunc(found) : found
  }
  if (property.type === 'boolean') return true
  if (property.type === 'array') return isSchema(property.items) ? [valueFor(property.items, message)] : []
  if (property.type === 'object') return argumentsFor(property, message)
  const quoted = /["“«']([^"”»']+)["”»']/.exec(message)?.[1] ?? message
  return typeof property.maxLength === 'number' ? quoted.slice(0, property.maxLength) : quoted
}

function propertiesOf(schema: Readonly<Record<string, unknown>>): Record<string, Readonly<Record<string, unknown>>> {
  if (!isSchema(schema.properties)) return {}
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => [name, isSchema(property) ? property : {}]),
  )
}

const isSchema = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
