import type { z } from 'zod'

/** A list at the top of an answer, and an item of it that its schema refuses. */
export interface Refused {
  list: string
  path: string
}

/**
 * An answer as its schema has it. A record may hold a value that only the version after this one knows: the item of a list that shows it is
 * left out, and told by `leftOut`, so that the others are answered. What is numbered is not, as its readers take a number that is missing
 * for one that is lost.
 */
export function checkedOutput(schema: z.ZodType, answer: unknown, leftOut: (refused: Refused) => void): unknown {
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
