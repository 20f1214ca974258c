import { h } from './dom.js'

/** A schema as a table of its fields. */
export function schemaView(schema) {
  if (schema.$ref) return refLink(schema)
  const branches = schema.oneOf ?? schema.anyOf ?? schema.allOf
  if (branches && typeOf(schema).length > 60) {
    const word = schema.allOf ? 'All of these together' : 'One of these'
    return h('div', { class: 'branches' }, h('p', { class: 'small' }, `${word}:`), branches.map(schemaView))
  }
  const rows = rowsOf(schema, 0)
  if (rows.length === 0) return h('p', { class: 'small' }, h('code', {}, typeOf(schema) || 'any'))
  return h('table', { class: 'schema' }, h('tbody', {}, rows))
}

function rowsOf(schema, depth) {
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = field.items ?? field
    return [
      h(
        'tr',
        {},
        h(
          'td',
          { class: `depth${Math.min(depth, 4)}` },
          h('code', {}, name),
          required.has(name) ? '' : h('i', {}, ' optional'),
        ),
        h('td', {}, typeView(field), h('div', { class: 'small' }, boundsOf(field))),
      ),
      ...(inner.properties && depth < 4 ? rowsOf(inner, depth + 1) : []),
    ]
  })
}

function typeView(schema) {
  const named = schema.$ref ? schema : schema.items?.$ref ? schema.items : null
  if (!named) return h('code', {}, typeOf(schema))
  return h('span', {}, refLink(named), schema.items ? ' list' : '')
}

const nameOf = ({ $ref }) => $ref.split('/').at(-1)
const refLink = (schema) => h('a', { href: `#schema.${nameOf(schema)}` }, nameOf(schema))

function typeOf(schema) {
  if (schema.$ref) return nameOf(schema)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const branches = schema.oneOf ?? schema.anyOf
  if (branches) return branches.map(typeOf).join(' | ')
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ')
  if (schema.type === 'array') return `${typeOf(schema.items ?? {}) || 'any'} list`
  if (schema.type === 'object' && schema.additionalProperties?.type)
    return `object of ${typeOf(schema.additionalProperties)}`
  return [schema.type].flat().join(' | ')
}

const bounds = {
  description: (text) => text,
  default: (value) => `${JSON.stringify(value)} if left out`,
  minLength: (length) => `at least ${length} characters`,
  maxLength: (length) => `at most ${length} characters`,
  minimum: (value) => `from ${value}`,
  maximum: (value) => `up to ${value}`,
  minItems: (items) => `at least ${items}`,
  maxItems: (items) => `at most ${items}`,
  format: (format) => format,
  pattern: (pattern) => pattern,
}

function boundsOf(schema) {
  const said = { ...schema.anyOf?.[0], ...schema }
  return Object.entries(bounds)
    .filter(([name]) => said[name] !== undefined)
    .map(([name, words]) => words(said[name]))
    .join(', ')
}

const examples = {
  client_msg_id: () => crypto.randomUUID(),
  client_action_id: () => crypto.randomUUID(),
  room: () => ({ type: 'alpha' }),
  text: () => 'Hello',
}

/** What one might send: the required fields, and those that say what the rest is about. */
export function exampleOf(schema) {
  const branch = (schema.oneOf ?? schema.anyOf ?? schema.allOf)?.[0]
  if (branch) return exampleOf(branch)
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'object') {
    const fields = Object.entries(schema.properties ?? {})
    const asked = fields.filter(([name]) => schema.required?.includes(name) || name in examples)
    return Object.fromEntries(asked.map(([name, field]) => [name, examples[name]?.() ?? exampleOf(field)]))
  }
  return { array: [], integer: schema.minimum ?? 1, number: schema.minimum ?? 1, boolean: true }[schema.type] ?? ''
}
