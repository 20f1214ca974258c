import { z } from 'zod'
import { AppError } from '#shared/errors'

/** Parses an answer of the provider. Throws UPSTREAM_ERROR for an unexpected one. */
export function readAs<Schema extends z.ZodType>(schema: Schema, status: number, text: string): z.output<Schema> {
  const parsed = schema.safeParse(status === 200 ? jsonOf(text) : undefined)
  if (parsed.success) return parsed.data
  throw new AppError('UPSTREAM_ERROR', { cause: new Error(`The provider of attendance answered ${status}`) })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const EventId = z.number().int().min(1).max(2_147_483_647)

const longestName = 200
const longestText = 2_000
const controls = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** A name as one short line; null if it is no text or empty. */
export const nameOf = (value: unknown): string | null => shortened(value, longestName)
export const textOf = (value: unknown): string | null => shortened(value, longestText)

function shortened(value: unknown, most: number): string | null {
  if (typeof value !== 'string') return null
  const line = value
    .slice(0, most * 2)
    .replace(controls, ' ')
    .trim()
  return [...line].slice(0, most).join('').trim() || null
}

/** An image that a page may show: a URL of the web, and nothing else. */
export function imageOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > longestText || !URL.canParse(value)) return null
  const { protocol, username, password, href } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === '' ? href : null
}
