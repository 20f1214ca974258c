import { type CanonicalOperation, type Example, fileOf } from '#shared/kit/json-schema'
import { singleTypes } from '#shared/kit/room-kinds'

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

/** The moment at which all examples happen, in milliseconds. */
export const exampleMoment = Date.parse('2026-03-02T09:00:00.000Z')

/** Values that a test or its machine made up. Their meaning is kept, and usable values are replaced. */
const kinds = {
  time: /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/,
  milliseconds: /(?<![\w.-])1[5-9]\d{11}(?![\w.])/,
  seconds: /(?<![\w.-])1[5-9]\d{8}(?![\w.])/,
  code: /(?<="code":")\d{4,8}(?=")/,
  words: /(?<=")[A-Z\d]{4}(?:-[A-Z\d]{4}){2,}(?=")/,
  nonce: /(?<=Nonce: |"nonce":")[A-Za-z\d]{8,}/,
  file: /(?<=[/"])1[5-9]\d{11}_[a-z\d]{10,}(?=\.)/,
  address: /0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/,
  short: /0x[0-9a-f]{4}…[0-9a-f]{4}/,
  id: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/,
  hex: /(?:0x|(?<![\w-]))(?=[a-fA-F]*\d)[0-9a-fA-F]{32,}/,
  base64: /(?<="(?:whsec_)?)[A-Za-z\d+/]{22,}={0,2}(?=")/,
  // Excludes methods of wallets such as `eth_signTypedData_v4`.
  token: /(?<![\w-])(?!eth_)(?![\w-]*(?:0x[0-9a-fA-F]{40}|[0-9a-f]{8}-[0-9a-f]{4}-))[\w-]{16,}/,
  machine: /(?<="host":")[^"]+(?=","process":)/,
  host: /(?:https?:\/\/)?(?:127\.0\.0\.1|10\.0\.0\.7|localhost)(?::\d+)?/,
} as const
type Kind = keyof typeof kinds

const names = Object.keys(kinds) as Kind[]
const any = new RegExp(names.map((kind) => `(?<${kind}>${kinds[kind].source})`).join('|'), 'g')

const lineBreak = '\u2424'

interface Found {
  kind: Kind
  text: string
}

/**
 * Prepares an exchange of a test for a document. Addresses, ids, tokens and signatures become made-up ones of the same form and
 * order, and times become one moment. Prepared values stay as they are.
 *
 * @param at The time of the exchange, in milliseconds.
 */
export function plain<Value>(value: Value, at: number): Value {
  // A line break is written as a letter, which would pass for the first of the next word.
  const text = JSON.stringify(value).replaceAll('\\n', lineBreak)
  const later = exampleMoment - Math.floor(at / 1_000) * 1_000
  const all = matchesIn(text)
  const known = new Map(
    names.map((kind) => [
      kind,
      distinct(
        kind,
        all.filter((found) => likeOf(found.kind) === likeOf(kind)),
      ),
    ]),
  )
  const placeOf = ({ kind, text }: Found) => {
    const [start = '', end = ''] = text.split('…')
    return kind === 'short'
      ? Math.max(1, 1 + (known.get('address')?.findIndex((one) => one.startsWith(start) && one.endsWith(end)) ?? 0))
      : 1 + (known.get(kind)?.indexOf(text.toLowerCase()) ?? 0)
  }
  const written = text.replace(any, (...given) => {
    const found = foundIn(given.at(-1) as Groups)
    return looksMade(found) ? madeUp(found, placeOf(found), later) : found.text
  })
  return JSON.parse(written.replaceAll(lineBreak, '\\n')) as Value
}

type Groups = Readonly<Partial<Record<Kind, string>>>

function foundIn(groups: Groups): Found {
  const kind = names.find((name) => groups[name] !== undefined) ?? 'token'
  return { kind, text: groups[kind] ?? '' }
}

/** Kinds that look alike once they are filled with one character. */
const likeOf = (kind: Kind): Kind => (kind === 'nonce' || kind === 'base64' ? 'token' : kind)

const matchesIn = (text: string): Found[] =>
  [...text.matchAll(any)].map(({ groups = {} }) => foundIn(groups)).filter(looksMade)

/** Sorts addresses and ids, as rooms and pages depend on their order. Others stay in order of appearance. */
function distinct(kind: Kind, found: readonly Found[]): string[] {
  const texts = [...new Set(found.map(({ text }) => text.toLowerCase()))]
  return kind === 'address' || kind === 'id' ? texts.sort() : texts
}

/** Words that are long are no token. */
const looksMade = ({ kind, text }: Found): boolean =>
  !['base64', 'token'].includes(kind) || [/[a-z]/, /[A-Z]/, /\d/].every((sign) => sign.test(text)) || isFilled(text)

const isFilled = (text: string) => /^B?(.)\1+=*$/.test(text)

/** Signs that fill base64 of any length, as the bits that its last one leaves over are zero. */
const fillers = 'AQgwEIMUYckos048'

function madeUp({ kind, text }: Found, place: number, later: number): string {
  const two = `${place}`.padStart(2, '0')
  switch (kind) {
    case 'time':
      return timeLike(text, Date.parse(text) + later)
    case 'milliseconds':
      return `${Math.floor((Number(text) + later) / 1_000) * 1_000}`
    case 'seconds':
      return `${Number(text) + later / 1_000}`
    case 'code':
      return '12345678'.slice(0, text.length)
    case 'words':
      return text.replace(/[^-]/g, 'A')
    case 'file':
      return `${exampleMoment}_${'a'.repeat(text.length - 14)}`
    case 'address':
      return `0x${two.repeat(20)}`
    case 'short':
      return `0x${two.repeat(2)}…${two.repeat(2)}`
    case 'id':
      return `019cad${two}-9a80-${text[14]}000-8000-000000000000`
    case 'hex':
      return text.replace(/(?<=^(?:0x)?)[\da-fA-F]+$/, (digits) => two.repeat(digits.length).slice(0, digits.length))
    case 'nonce':
    case 'base64':
    case 'token':
      return text.replace(isPoint.test(text) ? /(?<!^)./g : /[^=]/g, fillers[(place - 1) % fillers.length] ?? 'A')
    case 'machine':
      return 'plaza-1'
    case 'host':
      return text === '127.0.0.1' ? '192.0.2.1' : text === 'localhost' ? text : hostLike(text)
  }
}

/** A point of P-256, the first byte of which says so. */
const isPoint = /^B[\w-]{86}$/

const hostLike = (text: string) => (text.startsWith('http') ? 'https://chat.example.com' : 'chat.example.com')

/** A moment, to the second, written as another is. */
function timeLike(text: string, moment: number): string {
  const whole = new Date(Math.floor(moment / 1_000) * 1_000).toISOString()
  return text.length === whole.length ? whole : text.includes('.') ? whole : whole.replace('.000', '')
}
