import type { z } from 'zod'

/** A list in an answer, with the path in an item that its schema refuses. */
export interface RefusedItem {
  list: string
  path: string
}

/**
 * An answer, checked by its schema. A record may hold a value of the next version: its item is left out of the list and
 * reported. Numbered items are never left out, because readers take a missing number for a loss.
 */
export function checkedOutput(schema: z.ZodType, answer: unknown, leftOut: (refused: RefusedItem) => void): unknown {
  const checked = schema.safeParse(answer)
  if (checked.success) return checked.data
  const lists = new Map<string, Set<number>>()
  for (const { path } of checked.error.issues) {
    const [list, at] = path
    const items = isRecord(answer) && typeof list === 'string' ? answer[list] : null
    if (typeof list !== 'string' || typeof at !== 'number' || !Array.isArray(items) || isNumbered(items[at]))
      throw checked.error
    lists.set(list, (lists.get(list) ?? new Set()).add(at))
    leftOut({ list, path: path.slice(2).join('.') })
  }
  const shorter = [...lists].map(([list, refused]) => {
    const items = (answer as Record<string, unknown[]>)[list] ?? []
    return [list, items.filter((_, at) => !refused.has(at))]
  })
  return schema.parse({ ...(answer as object), ...Object.fromEntries(shorter) })
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const isNumbered = (item: unknown): boolean => isRecord(item) && ('seq' in item || 'idx' in item)
