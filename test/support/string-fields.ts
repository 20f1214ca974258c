import type { z } from 'zod'
import { spellingsOf } from '#server/kernel/http/http-input'
import { api } from '#shared/api/index'
import { type Operation, operationsOf } from '#shared/kit/contract'

/** What a field takes: `none` is no kind of text, as controls stand in it. */
export type Kind = 'name' | 'line' | 'text' | 'none'

type Named = readonly [path: string, field: z.core.$ZodType]

/** Each field below a schema, by its path. */
export function fieldsIn(schema: z.core.$ZodType, path: string): Named[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const below = (field: z.core.$ZodType, name: string): Named[] => [
    [path + name, field],
    ...fieldsIn(field, path + name),
  ]
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape).flatMap(([name, field]) => below(field, `.${name}`))
    case 'array':
      return below(def.element, '[]')
    case 'tuple':
      return def.items.flatMap((item) => below(item, '[]'))
    case 'record':
      return [...below(def.keyType, '{key}'), ...below(def.valueType, '{}')]
    case 'union':
      return def.options.flatMap((one) => fieldsIn(one, path))
    case 'intersection':
      return [...fieldsIn(def.left, path), ...fieldsIn(def.right, path)]
    case 'pipe':
      return [...fieldsIn(def.in, path), ...fieldsIn(def.out, path)]
    case 'lazy':
      return fieldsIn(def.getter(), path)
    default:
      return 'innerType' in def ? fieldsIn(def.innerType, path) : []
  }
}

const holds = (data: unknown, sign: string): boolean =>
  typeof data === 'string'
    ? data.includes(sign)
    : typeof data === 'object' &&
      data !== null &&
      Object.entries(data)
        .flat()
        .some((part) => holds(part, sign))

/** Whether the sign is left of a text that the field takes. */
const keeps = (field: z.core.$ZodType, sign: string): boolean => {
  const read = (field as z.ZodType).safeParse(`a${sign}b`)
  return read.success && holds(read.data, sign)
}

/** Null of a field that takes no words. */
export function kindOf(field: z.core.$ZodType): Kind | null {
  if (['\0', '\u0007', '\ud800'].some((sign) => keeps(field, sign))) return 'none'
  if (keeps(field, '\n')) return 'text'
  if (['\u202e', '\u2067', '\u2028'].some((sign) => keeps(field, sign))) return 'none'
  if (keeps(field, '\u200f')) return 'line'
  return keeps(field, ' ') ? 'name' : null
}

/** Each field that takes words, of all operations that change something, by their older paths too: `domain.operation.field`. */
export function textFields(operations = operationsOf(api)): ReadonlyMap<string, ReadonlySet<Kind>> {
  const found = new Map<string, Set<Kind>>()
  for (const { name, operation } of operations) {
    if (operation.http?.startsWith('GET')) continue
    for (const [path, field] of schemasOf(operation).flatMap((schema) => fieldsIn(schema, name))) {
      const kind = kindOf(field)
      if (kind !== null) found.set(path, (found.get(path) ?? new Set()).add(kind))
    }
  }
  return found
}

const schemasOf = (operation: Operation) => [
  ...new Set([operation.input, ...spellingsOf(operation).map(({ schema }) => schema)]),
]
