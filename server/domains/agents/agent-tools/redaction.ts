import type { Secrets } from './secrets.ts'

/** Removes the secrets of a tool from a text. */
export type Redact = (text: string) => string

/** The limit of a text; the rest is dropped. */
const mostRead = 64 * 1024
/** How far a secret at the end of that may reach, in any encoding. */
const furthest = 32 * 1024
/** Shorter secrets may be words: they are removed from keys alone, and as whole words. */
const shortest = 6
/** A prefix of this length identifies a long secret. */
const telling = 24
const removed = '[removed]'

const credential =
  /(^|[^a-z])(auth|authori[sz]ation|k|key|tokens?|pass|pin|session|sid|cookie|sig|app_?id)([^a-z]|$)|(key|tokens?|secret|password|signature)$/i
/** Certainly a key: long, with both cases and digits, or hexadecimal but no UUID. */
const random = /^(?:(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w.:~=-]{20,}|[0-9a-f]{32,})$/

/** Tools may repeat a secret: plain, escaped as in JSON, HTML or URLs, in base64 or hexadecimal. */
export function redactorOf(secrets: Secrets, url: string): Redact {
  let known: ReturnType<typeof spellingsOf> | undefined
  return (text) => {
    known ??= spellingsOf([...new Set([...inHeaders(secrets), ...inUrl(url)])])
    const { plain, encoded } = known
    if (plain.length === 0) return text
    const ranges: Range[] = []
    for (const { text: read, at } of readingsOf(text.slice(0, mostRead + furthest))) {
      const foldedText = folded(read)
      for (const secret of plain) for (const [from, to] of placesOf(secret, foldedText)) ranges.push([at(from), at(to)])
      for (const code of encoded) for (const [from, to] of placesOf(code, read)) ranges.push([at(from), at(to)])
    }
    return cutOut(text.slice(0, mostRead), ranges)
  }
}

const spellingsOf = (secrets: readonly string[]) => ({
  // Escapes within a secret are undone with the others.
  plain: [...new Set(secrets.flatMap((secret) => readingsOf(secret).map(({ text }) => folded(text))))],
  encoded: [...new Set(secrets.filter(({ length }) => length >= shortest).flatMap(encodingsOf))],
})

type Range = [from: number, to: number]

/** The ranges of a secret; of a long one as far as it was repeated. */
function placesOf(secret: string, text: string): Range[] {
  const places: Range[] = []
  const sought = secret.slice(0, telling)
  for (let from = text.indexOf(sought); from >= 0; ) {
    let to = from + sought.length
    while (to - from < secret.length && text[to] === secret[to - from]) to++
    const isWhole = secret.length >= shortest || !/[a-z0-9]/.test((text[from - 1] ?? '') + (text[to] ?? ''))
    if (isWhole) places.push([from, to])
    from = text.indexOf(sought, to)
  }
  return places
}

/** Folds differences of spelling: capitals, and `+` for a space in forms. */
const folded = (text: string) => text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase()).replaceAll('+', ' ')

/** The same for all texts and keys within a value. */
export function redactedValue<Value>(value: Value, redact: Redact): Value {
  return within(value) as Value

  function within(one: unknown): unknown {
    if (typeof one === 'string') return redact(one)
    if (Array.isArray(one)) return one.map(within)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [redact(name), within(inner)]))
  }
}

function inHeaders({ apiKey, headers }: Secrets): string[] {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    [value, ...partsOf(value)].filter(({ length }) => length >= shortest || credential.test(name)),
  )
  return [apiKey ?? '', ...given].map((value) => value.trim()).filter((value) => value !== '')
}

/** The credential after a scheme, the values of names, and the parts of Basic credentials. */
function partsOf(value: string): string[] {
  const [, bare = ''] = /^[A-Za-z][\w-]*\s+(\S+)$/.exec(value) ?? []
  const valued = [...value.matchAll(/=\s*"?([^\s",;=]+)"?/g)].map(([, part = '']) => part)
  if (!/^Basic\s/i.test(value)) return [bare, ...valued]
  const pair = Buffer.from(bare, 'base64').toString()
  return [bare, pair, ...(/^([^:]*):(.*)$/s.exec(pair)?.slice(1) ?? [])]
}

/** Keys in a URL: in a query under a telling name, and anywhere in query and path. */
function inUrl(url: string): string[] {
  const { searchParams, pathname } = new URL(url)
  const asked = [...searchParams].filter(
    ([name, value]) => (value.length >= shortest && credential.test(name)) || random.test(value),
  )
  return [...asked.map(([, value]) => value), ...pathname.split('/').filter((part) => random.test(part))]
}

function encodingsOf(secret: string): string[] {
  const forms = [...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])]
  const hex = Buffer.from(secret).toString('hex')
  return [hex, hex.toUpperCase(), ...forms.flatMap(inBase64)]
}

/** Base64 of a text has three forms by its offset; bits shared with neighbours are left out. */
function inBase64(text: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
    const own = bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

function cutOut(text: string, ranges: Range[]): string {
  let clean = ''
  let done = 0
  for (const [from, to] of ranges.sort(([one], [other]) => one - other)) {
    if (from >= text.length) break
    if (from >= done) clean += text.slice(done, from) + removed
    done = Math.max(done, to)
  }
  return clean + text.slice(done)
}

/** One unescaped version of a text. */
interface Reading {
  text: string
  /** The position of a character in the original text. */
  at(index: number): number
}

/** Escapes may be nested, at most three times. */
const mostTimes = 3
const escapes =
  /%([0-9a-f]{2})|\\u00([0-9a-f]{2})|\\x([0-9a-f]{2})|&#x0*([0-9a-f]{2});|&#0*(\d{2,3});|&(amp|lt|gt|quot|apos);|\\(["\\/])/gi
const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text and its unescaped versions. */
function readingsOf(text: string): Reading[] {
  const readings: Reading[] = []
  let next: Reading | null = { text, at: (index) => index }
  while (next && readings.length <= mostTimes) {
    readings.push(next)
    next = unescaped(next)
  }
  return readings
}

function unescaped({ text, at }: Reading): Reading | null {
  const begins: number[] = []
  let plain = ''
  let done = 0
  const keepUntil = (end: number) => {
    plain += text.slice(done, end)
    for (; done < end; done++) begins.push(at(done))
  }
  for (const match of text.matchAll(escapes)) {
    keepUntil(match.index)
    plain += meantBy(match)
    begins.push(at(match.index))
    done += match[0].length
  }
  if (done === 0) return null
  keepUntil(text.length)
  const end = at(text.length)
  return { text: plain, at: (index) => begins[index] ?? end }
}

function meantBy([, url, json, byte, hex, decimal, name, sign]: RegExpExecArray): string {
  const code = url ?? json ?? byte ?? hex
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
  if (decimal !== undefined) return String.fromCharCode(Number(decimal))
  return (name === undefined ? sign : named[name.toLowerCase()]) ?? ''
}
