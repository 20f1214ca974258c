import { type CanonicalOperation, type Example, fileOf } from '#shared/kit/json-schema'
import { singleTypes } from '#shared/kit/room-kinds'
import { plain } from './plain.ts'

/** What `test/support/exchanges.ts` notes of one successful call. */
export interface Exchange {
  name: string
  /** When, in milliseconds. */
  at: number
  input: Record<string, unknown>
  output: unknown
}

const mostItems = 2
const mostOfText = 300
const mostCharacters = 3_000

/** Does it pass the schemas of its operation, as a request and as an answer? */
export const fits = ({ input, answer }: CanonicalOperation, example: Example): boolean =>
  input.safeParse(example.input).success && answer.safeParse(example.output).success

/** The exchange with the most fields of its operation in few words, or the shortest; null if none is suitable. */
export function chosen(canonical: CanonicalOperation, exchanges: readonly Exchange[]): Example | null {
  const examples = exchanges
    .filter(({ name, input }) => name === canonical.name && isOf(canonical, input))
    .flatMap((exchange) => shown(canonical, exchange) ?? [])
    .map((example) => ({ example, text: JSON.stringify(example) }))
    .map(({ example, text }) => ({ example, text, worth: text.length > mostCharacters ? 0 : fieldsIn(example) }))
    .sort(
      (one, other) =>
        other.worth - one.worth || one.text.length - other.text.length || (one.text < other.text ? -1 : 1),
    )
  return examples[0]?.example ?? null
}

/** Rooms without an id have paths of their own. */
function isOf({ fixed }: CanonicalOperation, { room }: Record<string, unknown>): boolean {
  const { type } = (room ?? {}) as { type?: string }
  return fixed ? type === fixed.type : !singleTypes.some((single) => single === type)
}

/** The exchange as an example, with short lists if the schemas allow. Fields are spelled as in paths and queries if required. */
function shown(canonical: CanonicalOperation, { at, input, output }: Exchange): Example | null {
  const { field = '' } = fileOf(canonical.operation) ?? {}
  const { [field]: _, ...given } = input
  for (const cut of [shortened, whole])
    for (const spelled of [whole, asText]) {
      const asked = asAsked(canonical, spelled(cut(given) as Example['input']))
      const example = plain({ input: asked, output: cut(output) }, at)
      if (fits(canonical, example)) return example
    }
  return null
}

const whole = <Value>(value: Value): Value => value

const asText = (input: Example['input']): Example['input'] =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(',') : typeof value === 'number' ? `${value}` : value,
    ]),
  )

/** Without what is so anyway. */
function asAsked({ input: schema }: CanonicalOperation, input: Example['input']): Example['input'] {
  const read = (value: unknown) => {
    const { success, data } = schema.safeParse(value)
    return success ? JSON.stringify(data) : null
  }
  const all = read(input)
  if (all === null) return input
  return Object.keys(input).reduce((left, name) => {
    const { [name]: _, ...others } = left
    return read(others) === all ? others : left
  }, input)
}

/** Lists and long texts end early; what is encoded does not. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > mostOfText && /\s/.test(value) ? `${value.slice(0, mostOfText)}…` : value
  if (Array.isArray(value)) return value.slice(0, mostItems).map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]))
}

/** The number of filled fields, with one item of each list. Empty, long and invisible texts count against it. */
function fieldsIn(value: unknown): number {
  if (value === null || value === undefined) return 0
  if (value === '') return -5
  if (typeof value === 'string') return /[^\P{C}\n]/u.test(value) ? -50 : value.length > mostOfText ? -5 : 1
  if (Array.isArray(value)) return value.length === 0 ? 0 : 1 + fieldsIn(value[0])
  if (typeof value !== 'object') return 1
  return Object.values(value).reduce((sum: number, inner) => sum + fieldsIn(inner), 0)
}
