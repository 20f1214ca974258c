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
