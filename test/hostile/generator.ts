import { z } from 'zod'
import { objectsIn } from '#server/kernel/invoke'
import { api } from '#shared/api/index'
import type { ErrorCode } from '#shared/errors'
import {
  commonErrors,
  type ErrorBody,
  expandRoute,
  type Operation,
  operationsOf,
  pathParameters,
} from '#shared/kit/contract'

/** Spoilt values by name. What a schema takes of them must still do no harm. */
export const badValues: readonly (readonly [name: string, value: unknown])[] = [
  ['empty', ''],
  ['spaces', '   '],
  ['tab and newline', '\t\n'],
  ['NUL', 'a\u0000b'],
  ['one character', 'a'],
  ['501 characters', 'x'.repeat(501)],
  ['10,001 characters', 'x'.repeat(10_001)],
  ['5,001 emoji', '😀'.repeat(5_001)],
  ['80 kB', 'y'.repeat(80_000)],
  ['lone surrogate', 'a\ud800b'],
  ['combining marks', `z${'\u0301'.repeat(1_000)}`],
  ['right-to-left override', 'abc\u202edef'],
  ['zero width only', '\u200b\u2060\ufeff'],
  ['noncharacter', '\uffff\ue000'],
  ['decomposed', 'e\u0301'],
  ['fullwidth', 'ａｂｃ'],
  ['Cyrillic', 'сору'],
  ['lower case grows', 'İßıﬀ'],
  ['constructor', 'constructor'],
  ['toString', 'toString'],
  ['__proto__', '__proto__'],
  ['hasOwnProperty', 'hasOwnProperty'],
  ['undefined as text', 'undefined'],
  ['null as text', 'null'],
  ['NaN as text', 'NaN'],
  ['header text', 'x\r\nSet-Cookie: a=b'],
  ['encoded NUL', '%00'],
  ['encoded climb', '%2e%2e%2f'],
  ['climb', '../../etc/passwd'],
  ['script', '<script>alert(1)</script>'],
  ['image tag', '"><img src=x onerror=alert(1)>'],
  ['javascript address', 'javascript:alert(1)'],
  ['template', '{{7*7}}#{7*7}<%= 7*7 %>'],
  ['SQL', "' OR 1=1 --"],
  ['Mongo JavaScript', "'; return true//"],
  ['format', '%s%n%d'],
  ['terminal', '\u001b[2J'],
  ['JSON in text', '{"$gt":""}'],
  ['bait for backtracking', `${'a'.repeat(9_000)}!`],
  ['pattern', '(a+)+$'],
  ['number', 7],
  ['true', true],
  ['false', false],
  ['null', null],
  ['array', ['x']],
  ['nested array', [[['x']]]],
  ['empty object', {}],
  ['$gt', { $gt: '' }],
  ['$ne', { $ne: null }],
  ['$regex', { $regex: '.*' }],
  ['$where', { $where: 'sleep(1000)' }],
  ['own toString', { toString: 'x' }],
  ['length', { length: 1e9 }],
  ['a thousand', Array.from({ length: 1_000 }, () => 0)],
  ['nine deep', [[[[[[[[[1]]]]]]]]]],
  ['minus one', -1],
  ['zero', 0],
  ['one and a half', 1.5],
  ['1e21', 1e21],
  ['2^53', 2 ** 53],
  ['2^63', 2 ** 63],
  ['1e308', 1e308],
  ['negative zero', -0],
  ['digits', '10'],
  ['hex digits', '0x10'],
  ['exponent', '1e3'],
  ['padded digits', ' 5 '],
  ['false as text', 'false'],
  ['no', 'no'],
  ['enum in upper case', 'CHANNEL'],
  ['enum and a space', 'channel '],
  ['slow mode 7', { slow_mode_seconds: 7 }],
  ['legacy boolean rule', { links_allowed: true }],
  ['2h', '2h'],
  ['39 hex', `0x${'a'.repeat(39)}`],
  ['41 hex', `0x${'a'.repeat(41)}`],
  ['0X', `0X${'A'.repeat(40)}`],
  ['zero address', `0x${'0'.repeat(40)}`],
  ['name service', 'vitalik.eth'],
  ['email id', 'email:victim@example.com'],
  ['forged prefix', 'humanproof:0x1'],
  ['base58 with 0OIl', '0OIl0OIl0OIl0OIl0OIl0OIl0OIl0OIl'],
  ['uuid without dashes', '0190a0b0c0d07e0f8a0b0c0d0e0f0a0b'],
  ['nil uuid', '00000000-0000-0000-0000-000000000000'],
  ['upper case uuid', '0190A0B0-C0D0-7E0F-8A0B-0C0D0E0F0A0B'],
  ['24 hex', '507f1f77bcf86cd799439011'],
  ['12 characters', 'abcdefghijkl'],
  ['year zero', '0000-01-01T00:00:00Z'],
  ['year 275760', '+275760-09-13T00:00:00.001Z'],
  ['February 30', '2026-02-30T00:00:00Z'],
  ['month 13', '2026-13-01T00:00:00Z'],
  ['epoch number', 1_790_000_000_000],
  ['zone', '2026-01-01T00:00:00[Mars/Phobos]'],
  ['http', 'http://'],
  ['ftp', 'ftp://example.com'],
  ['file', 'file:///etc/passwd'],
  ['data', 'data:text/html,<b>'],
  ['no scheme', '//example.com'],
  ['userinfo', 'https://a@b'],
  ['loopback', 'https://127.0.0.1/'],
  ['metadata', 'https://169.254.169.254/'],
  ['v6 loopback', 'https://[::1]/'],
  ['backslashes', 'https:\\\\example.com'],
  ['port 65536', 'https://example.com:65536/'],
  ['long query', `https://example.com/?${'q'.repeat(8_000)}`],
  ['broken escape', '%E0%A4%A'],
  ['alpha with id', { type: 'alpha', id: 'x' }],
  ['channel without id', { type: 'channel' }],
  ['room of no type', { type: '__proto__', id: 'x' }],
  ['room with more', { type: 'channel', id: 'x', extra: 1 }],
  ['room with operators', { type: 'channel', id: { $ne: null } }],
]

const namesOfEncoders = [
  '_bsontype',
  'toBSON',
  'toJSON',
  '__proto__',
  '$set',
  '$',
  'a.b',
  '.',
  'a\u0000b',
  '\ud800',
  '',
]
const namesOfModels = [
  'isMongooseBuffer',
  'isMongooseArray',
  '$isMongooseMap',
  '$__',
  '_doc',
  'toObject',
  'then',
  'length',
]
const keyed = (name: string, value: unknown): object => Object.fromEntries([[name, value]])
const nested = (depth: number): unknown => (depth === 0 ? 'x' : { x: nested(depth - 1) })

/** Texts that an encoder of a store takes for something of its own where they name a field. */
export const encoderNames: readonly string[] = [...namesOfEncoders, ...namesOfModels]

/** What the encoder of a store may refuse as a name at some depth, or as a value; `@raw:` stands for JSON as it is. */
export const encoderValues: readonly unknown[] = [
  ...namesOfEncoders.flatMap((name) => [keyed(name, 'ObjectId'), [{ deep: keyed(name, 1) }]]),
  { _bsontype: 'ObjectId', id: 'x' },
  '@raw:1e999',
  '@raw:-1e999',
  '@raw:-0',
  `@raw:${'9'.repeat(400)}`,
  nested(12),
  nested(500),
]

/** As JSON, where what `@raw:` begins stands as it is. */
export const rawJson = (value: unknown): string => JSON.stringify(value).replace(/"@raw:([^"]*)"/g, '$1')

export interface Target {
  name: string
  operation: Operation
  method: string
  path: string
  schema: z.ZodType
  errorBody: ErrorBody
  codes: readonly ErrorCode[]
  /** The room that the path itself names. */
  fixed: { type: string } | undefined
}

const codesOf = (operation: Operation): readonly ErrorCode[] => [
  ...commonErrors,
  ...(operation.errors ?? []),
  // On a busy machine a sign-in is no longer fresh when the last inputs come.
  ...(operation.freshProof ? (['REAUTHENTICATION_REQUIRED'] as const) : []),
]

/** Every path of every operation. */
export const restTargets: readonly Target[] = operationsOf(api).flatMap(({ name, operation }) => {
  const own = operation.http
    ? [{ route: operation.http, schema: operation.input as z.ZodType, errorBody: operation.errorBody ?? 'coded' }]
    : []
  const aliases = (operation.aliases ?? []).map((alias) => ({
    route: alias.http,
    schema: (alias.input ?? operation.input) as z.ZodType,
    errorBody: alias.errorBody ?? ('text' as const),
  }))
  return [...own, ...aliases].flatMap(({ route, schema, errorBody }) =>
    expandRoute(route).map(({ method, path, fixed, query }) => ({
      name,
      operation,
      method,
      path: query ? `${path}?${new URLSearchParams(query)}` : path,
      schema,
      errorBody,
      codes: codesOf(operation),
      fixed,
    })),
  )
})

export const socketTargets = operationsOf(api).flatMap(({ name, operation }) => {
  const [namespace, event] = operation.socket?.split(' ') ?? []
  if (namespace === undefined || event === undefined) return []
  return [{ name, operation, namespace: namespace === '*' ? '/rooms' : namespace, event, codes: codesOf(operation) }]
})

/** Objects that a schema could take, one for each of its shapes; a field that nothing fits is left out. */
export function samples(schema: z.ZodType, candidates: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  return objectsIn(schema).map(({ shape }) => {
    const known = 'room' in shape ? { ...candidates, id: candidates.messageId } : candidates
    return Object.fromEntries(
      Object.entries(shape).flatMap(([field, type]) => {
        const found = sampleOf(type as z.ZodType, field, known)
        return found === undefined ? [] : [[field, found] as const]
      }),
    )
  })
}

function sampleOf(type: z.ZodType, field: string, candidates: Readonly<Record<string, unknown>>): unknown {
  if (type.meta()?.['names-caller']) return candidates.caller
  const named = candidates[field]
  if (named !== undefined && type.safeParse(named).success) return named
  return [...optionsOf(type), ...Object.values(candidates)].find((value) => type.safeParse(value).success)
}

function optionsOf(type: z.ZodType): readonly unknown[] {
  if (type instanceof z.ZodEnum) return type.options
  if (type instanceof z.ZodLiteral) return [...type.values]
  if (type instanceof z.ZodOptional || type instanceof z.ZodNullable || type instanceof z.ZodDefault)
    return optionsOf(type.unwrap() as z.ZodType)
  return []
}

export interface Spoilt {
  field: string
  kind: string
  input: Record<string, unknown>
}

/** `each` spoilt values for each field, so that over all fields every value has its turn; and each field left out or misspelt. */
export function spoil(base: Record<string, unknown>, random: () => number, each: number): Spoilt[] {
  return Object.keys(base).flatMap((field) => {
    const from = Math.floor(random() * badValues.length)
    const step = 1 + Math.floor(random() * 6)
    const chosen = Array.from({ length: each }, (_, at) => badValues[(from + at * step) % badValues.length])
    const { [field]: kept, ...without } = base
    return [
      ...chosen.flatMap((one) => (one ? [{ field, kind: one[0], input: { ...base, [field]: one[1] } }] : [])),
      { field, kind: 'left out', input: without },
      { field, kind: 'misspelt', input: { ...without, [field.toUpperCase()]: kept } },
    ]
  })
}

/** Where a value goes: what the path names into the path, the rest into the query or the body. */
export function place(target: Target, input: Record<string, unknown>) {
  const named = pathParameters(target.path)
  const room = input.room as { type?: unknown; id?: unknown } | undefined
  const inPath: Record<string, unknown> = { ...input }
  if (named.includes('room')) Object.assign(inPath, { type: room?.type, room: room?.id })
  const path = target.path.replace(/:([a-zA-Z_]+)/g, (_, name: string) => segment(inPath[name]))
  const taken = new Set([
    ...named.filter((name) => name !== 'type'),
    ...(named.includes('room') || target.fixed ? ['room'] : []),
  ])
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !taken.has(name)))
  const query = target.method === 'GET' ? queryOf(rest) : ''
  return {
    path: path + (path.includes('?') ? query.replace('?', '&') : query),
    body: target.method === 'GET' ? null : rest,
    inPath: taken,
  }
}

/** A segment is never empty and never a dot, which would be another path. */
const segment = (value: unknown): string => encodeURIComponent(inUrl(value))

/** What the server reads where this value stands in an address. */
export function inUrl(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  const whole = [...(text.isWellFormed() ? text : '\ufffd')].slice(0, 800).join('')
  return /^\.{0,2}$/.test(whole) ? ' ' : whole
}

function queryOf(fields: Record<string, unknown>): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) => {
    const key = encodeURIComponent(name)
    if (Array.isArray(value)) return value.slice(0, 5).map((one) => `${key}=${segment(one)}`)
    if (typeof value === 'object' && value !== null)
      return Object.entries(value).map(([inner, one]) => `${key}[${encodeURIComponent(inner)}]=${segment(one)}`)
    return [`${key}=${value === '' ? '' : segment(value)}`]
  })
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}
