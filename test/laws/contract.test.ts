import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { mountsOf } from '#server/kernel/http/http'
import { spellingsOf } from '#server/kernel/http/http-input'
import { objectsIn } from '#server/kernel/invoke'
import { api, events } from '#shared/api/index'
import { errors } from '#shared/errors'
import { connectionEvents } from '#shared/kit/connection'
import {
  expandRoute,
  namespaces,
  type Operation,
  operationsOf,
  pathParameters,
  refusesSuspended,
} from '#shared/kit/contract'
import { type JsonSchema, schemaWriter } from '#shared/kit/json-schema'
import { checksOf, isLengthCheck, schemasBelow } from '#shared/kit/length-checks'
import { parse, type Source, sourcesOf } from './sources.ts'

const operations = operationsOf(api)
const routes = operations.flatMap(({ name, operation }) =>
  spellingsOf(operation).flatMap(({ route, schema }) =>
    expandRoute(route).map(({ method, path, query }) => ({ name, route, schema, method, path, query })),
  ),
)

describe('the contract', () => {
  test('the length of a text is checked before whatever may cost by its square', () => {
    expect(operations.flatMap(({ name, operation }) => unboundedTexts(operation.input, name))).toEqual([])
    const planted = z.object({ a: z.array(z.string().regex(/^a+$/)), b: z.string().overwrite(String).max(3) })
    expect(unboundedTexts(planted, 'planted')).toEqual(['planted..', 'planted.'])
  })

  test('an operation that judges texts says so by its cost', () => {
    const judging = operations.filter(
      ({ operation: { errors = [], output } }) =>
        errors.includes('BLOCKED_WORD') || objectsIn(output).some(({ shape }) => 'verdict' in shape),
    )
    expect(judging.map(({ name }) => name)).toEqual(expect.arrayContaining(['messages.send', 'messages.check']))
    expect(judging.filter(({ operation }) => operation.cost !== 'judged').map(({ name }) => name)).toEqual([])
  })

  test('no two routes are one', () => {
    const spelled = routes.map(
      ({ method, path, query }) => `${method} ${path.replace(/:\w+/g, ':')} ${JSON.stringify(query)}`,
    )
    expect(repeated(spelled.map((one) => one.toLowerCase()))).toEqual([])
  })

  test('no path names a parameter twice', () => {
    expect(routes.filter(({ path }) => repeated(pathParameters(path)).length > 0).map(({ path }) => path)).toEqual([])
  })

  test('no route hides another', () => {
    const mounted = mountedRoutes()
    const hidden = mounted.flatMap((later, index) => {
      const example = later.path.replace(/:\w+/g, 'x')
      const earlier = mounted
        .slice(0, index)
        .find(({ method, matcher, isAsked }) => !isAsked && method === later.method && matcher.test(example))
      return earlier ? [`${earlier.path} hides ${later.method} ${later.path}`] : []
    })
    expect(mounted.length).toBeGreaterThanOrEqual(routes.length)
    expect(hidden).toEqual([])
  })

  test('every parameter of a path is a field of the input', () => {
    const missing = routes.flatMap(({ route, schema, path }) => {
      const fields = new Set(objectsIn(schema).flatMap(({ shape }) => Object.keys(shape)))
      const asked = pathParameters(route).concat(route.includes('{room}') ? ['room'] : [])
      return asked.filter((name) => !fields.has(name)).map((name) => `${path}: ${name}`)
    })
    expect(missing).toEqual([])
  })

  test('O71: each field of an input is read by the server, or by the page that is given it', () => {
    const named = new Set(sourcesOf('server', 'client/web').flatMap(({ code }) => code.match(/\w+/g) ?? []))
    const used = new Set(sourcesOf('shared').flatMap(({ code }) => code.match(/\b\w+\b(?!\??:)/g) ?? []))
    const isRead = (field: string) => {
      const stored = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      return [field, stored].some((name) => named.has(name) || used.has(name))
    }
    /** What takes nothing but nothing refuses who sends more. */
    const isRefused = (schema: z.ZodType) => ['', false, null].every((nothing) => schema.safeParse(nothing).success)
    const unread = operations.flatMap(({ name, operation: { input } }) =>
      Object.entries(input.shape as Record<string, z.ZodType>)
        .filter(([field, schema]) => !schema.meta()?.['names-caller'] && !isRefused(schema) && !isRead(field))
        .map(([field]) => `${name}: ${field}`),
    )
    expect(unread).toEqual([])
  })

  test('N88: every `limit` of a list is a whole number from 1, and more than the most is the most', () => {
    const limits = routes.flatMap(({ route, schema }) =>
      objectsIn(schema).flatMap(({ shape }) => ('limit' in shape ? [{ route, limit: shape.limit as z.ZodType }] : [])),
    )
    expect(limits.length).toBeGreaterThan(20)
    for (const { route, limit } of limits) {
      const most = limit.parse(1_000_000_000)
      const usual = limit.parse(undefined) ?? 1
      expect([route, most], route).toEqual([route, expect.toSatisfy((rows: number) => rows >= 50 && rows <= 500)])
      expect([route, Number(usual) <= Number(most), limit.parse(1)]).toEqual([route, true, 1])
      const taken = [0, -1, 1.5, Number.NaN, '', '1e2', '5', null].filter((wrong) => limit.safeParse(wrong).success)
      expect([route, taken]).toEqual([route, []])
      const { input } = schemaWriter('draft-2020-12', {})
      expect([route, input(limit)]).toMatchObject([
        route,
        { minimum: 1, description: `At most ${most}: more is taken as ${most}.` },
      ])
    }
  })

  test('what a query carries fits into a query', () => {
    const nested = routes
      .filter(({ method }) => method === 'GET' || method === 'DELETE')
      .flatMap(({ schema, path, route }) =>
        objectsIn(schema).flatMap(({ shape }) =>
          Object.entries(shape)
            .filter(([name]) => name !== 'room' || !route.includes('{room}'))
            .filter(([, field]) => isNested(field as z.ZodType))
            .map(([name]) => `${path}: ${name}`),
        ),
      )
    expect(nested).toEqual([])
  })

  test('no two operations answer one event, and no event is told under the name of another', () => {
    const heard = operations.flatMap(({ operation }) =>
      operation.socket ? spread(operation.socket, operation.alsoOn) : [],
    )
    const told = Object.values(events).flatMap(({ namespace, name }) => spread(`${namespace} ${name}`))
    expect(repeated(heard)).toEqual([])
    expect(repeated(told)).toEqual([])
  })

  test('the name of an event is spelled in its declaration alone; who tells it names the declaration', () => {
    const declared = [...Object.values(events), ...Object.values(connectionEvents)]
    const names = [...new Set(declared.map(({ name }) => name))]
    const spelled = ({ path, code }: Source) =>
      names
        .filter((name) => ["'", '"', '`'].some((quote) => code.includes(quote + name + quote)))
        .map((name) => `${path} spells ${name}`)
    expect(sourcesOf('server').flatMap(spelled)).toEqual([])
    for (const text of ["'room:event'", '"room:event"', '`room:event`'])
      expect(spelled(parse('server/a.ts', `export const a = ${text}`))).toEqual(['server/a.ts spells room:event'])
  })

  test('every operation has a door, and one sentence that says what it does', () => {
    const without = operations.filter(({ operation }) => routesAndSockets(operation).length === 0)
    const mute = operations.filter(({ operation }) => !/^\S.*\.$/.test(operation.summary))
    expect([...without, ...mute].map(({ name }) => name)).toEqual([])
  })

  test('M08: what links, unlinks, recovers, makes tokens or hands out all data asks for a fresh proof', () => {
    const asking = operations.filter(({ operation }) => operation.freshProof).map(({ name }) => name)
    expect(asking.sort()).toEqual([
      'accounts.grantAdmin',
      'accounts.revokeAdmin',
      'email.remove',
      'email.sendCode',
      'email.verifyCode',
      'federation.linkHumanProof',
      'federation.linkPartner',
      'identities.linkSolana',
      'identities.linkWallet',
      'identities.unlink',
      'ownData.erase',
      'ownData.eraseUser',
      'ownData.exportUrl',
      'ownData.exportUser',
      'passkeys.beginRegistration',
      'passkeys.register',
      'passkeys.remove',
      'phone.remove',
      'phone.sendCode',
      'serviceTokens.create',
      'serviceTokens.revoke',
      'wallet.planRecoverySigner',
    ])
    const links = operations.filter(({ name, operation }) => /\.(link|unlink)/.test(name) && !operation.freshProof)
    expect(links).toEqual([])
  })

  test('N08: what somebody who is suspended may call although it writes is listed here', () => {
    const because = (why: Operation['whileSuspended']) =>
      operations
        .filter(({ operation }) => operation.whileSuspended === why)
        .map(({ name }) => name)
        .sort()
    expect({
      reads: because('reads'),
      'signs in': because('signs in'),
      withdraws: because('withdraws'),
      protects: because('protects'),
      judged: because('judged'),
    }).toEqual({
      reads: [
        'agents.resume',
        'knowledge.watch',
        'messages.check',
        'messages.join',
        'messages.leave',
        'messages.presenceOf',
        'moderation.simulate',
        'passkeys.checkMigration',
        'phone.friends',
        'phone.lookup',
        'status.cancelStream',
        'streams.leave',
        'streams.listen',
        'streams.refreshAssets',
        'streams.unlisten',
        'streams.unwatch',
        'streams.view',
        'streams.watch',
        'wallet.refreshBalances',
      ],
      'signs in': [
        'email.checkLink',
        'email.login',
        'email.openLink',
        'email.restoreSession',
        'email.sendLink',
        'email.sendLoginCode',
        'federation.humanProof',
        'federation.partner',
        'identity.refresh',
        'identity.renewConnection',
        'identity.verify',
        'identity.verifyAdmin',
        'identity.verifySolana',
        'passkeys.beginLogin',
        'passkeys.login',
        'passkeys.recoverByEmail',
        'passkeys.verifyRecovery',
      ],
      withdraws: [
        'agents.cancel',
        'agents.forget',
        'agents.remove',
        'booking.cancel',
        'calendar.disconnect',
        'chatFolders.remove',
        'friends.cancel',
        'friends.decline',
        'friends.remove',
        'friends.removeByAddress',
        'friends.untag',
        'groupInvitations.decline',
        'groupInvitations.withdraw',
        'identity.logout',
        'knowledge.remove',
        'meetings.end',
        'meetings.leave',
        'meetings.remove',
        'ownData.erase',
        'profiles.removeEntry',
        'profiles.removeWidget',
        'push.unsubscribe',
        'rooms.leave',
        'scheduling.removeWindow',
        'stars.remove',
        'streams.end',
        'streams.remove',
        'webhooks.remove',
      ],
      protects: [
        'contact.write',
        'contactNotes.write',
        'deviceKeys.remove',
        'email.remove',
        'identities.unlink',
        'messages.directRead',
        'messages.presence',
        'messages.read',
        'messages.readMessage',
        'ownData.beginExport',
        'ownData.exportUrl',
        'ownData.restore',
        'passkeys.remove',
        'phone.remove',
        'push.changePreferences',
        'sessions.end',
        'sessions.endOthers',
        'social.block',
        'social.mute',
        'social.unblock',
        'social.unmute',
        'wallet.planRecoverySigner',
      ],
      judged: [
        'messages.directEdit',
        'messages.directReact',
        'messages.directSend',
        'messages.edit',
        'messages.pin',
        'messages.react',
        'messages.remove',
        'messages.send',
        'polls.create',
        'polls.vote',
        'rooms.setTopic',
        'streams.say',
      ],
    })
    const idle = operations.filter(
      ({ operation: { whileSuspended, ...plain } }) => whileSuspended && refusesSuspended(plain) === null,
    )
    const unjudged = operations.filter(
      ({ operation }) => refusesSuspended(operation) === 'judge' && operation.idempotency?.kept !== 'log',
    )
    expect([...idle, ...unjudged].map(({ name }) => name)).toEqual([])
  })

  test('every listed error is in the table, once', () => {
    const wrong = operations.flatMap(({ name, operation }) =>
      (operation.errors ?? [])
        .filter((code, index, all) => !(code in errors) || all.indexOf(code) !== index)
        .map((code) => `${name}: ${code}`),
    )
    expect(wrong).toEqual([])
  })

  test('M34: every error in the table is answered by something', () => {
    const code = sourcesOf('server')
      .map((source) => source.code)
      .join('\n')
    expect(Object.keys(errors).filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
  })

  test('an input is a plain object, and the key of a repeat is a field of it', () => {
    const crooked = operations.filter(
      ({ operation: { input, idempotency } }) =>
        !(input instanceof z.ZodObject) || (idempotency !== undefined && !(idempotency.key in input.shape)),
    )
    expect(crooked.map(({ name }) => name)).toEqual([])
  })

  test('M19: every path of an operation with a key reads the key, so that a malformed one is refused everywhere', () => {
    const deaf = operations.flatMap(({ name, operation: { aliases = [], idempotency } }) =>
      aliases.flatMap(({ http, input }) =>
        idempotency && input && !objectsIn(input).every(({ shape }) => idempotency.key in shape)
          ? [`${name} ${http}`]
          : [],
      ),
    )
    expect(deaf).toEqual([])
  })

  test('M19: a text that may not be any text says in the documents what it is', () => {
    const { input } = schemaWriter('draft-2020-12', {})
    const texts = ['<i>two words</i>', '../..', 'https:', '\u{1f600}']
    const silent = operations.flatMap(({ name, operation }) =>
      spellingsOf(operation).flatMap(({ route, schema }) =>
        objectsIn(schema).flatMap(({ shape }) =>
          Object.entries(shape as Record<string, z.ZodType>)
            .filter(([, field]) => !texts.some((text) => field.safeParse(text).success))
            .filter(([, field]) => textsIn(input(field)).some((json) => !saysWhatItIs(json)))
            .map(([field]) => `${name} ${route}: ${field}`),
        ),
      ),
    )
    expect([...new Set(silent)]).toEqual([])
  })

  test('M48: each POST creates or charges once for each key, or is one that a repeat does no harm', () => {
    const wrong = operations.filter(({ operation: { http, idempotency, repeat } }) =>
      http?.startsWith('POST ') ? Boolean(idempotency) === Boolean(repeat) : Boolean(repeat),
    )
    expect(wrong.map(({ name }) => name)).toEqual([])
  })

  test('an answer says something; only an ack may be enough by itself', () => {
    const empty = operations.filter(({ operation: { output, socket } }) => {
      const json = z.toJSONSchema(output, { unrepresentable: 'any' })
      if (json.type === 'object' && Object.keys(json.properties ?? {}).length === 0)
        return !(output instanceof z.ZodRecord) && socket === undefined
      return json.type === undefined && !json.anyOf && !json.oneOf && !json.allOf
    })
    expect(empty.map(({ name }) => name)).toEqual([])
  })
})

/** The strings among the branches of a field. */
const textsIn = (json: JsonSchema): JsonSchema[] => {
  const branches = (json.anyOf ?? json.oneOf) as JsonSchema[] | undefined
  return branches ? branches.flatMap(textsIn) : [json.type].flat().includes('string') ? [json] : []
}

const saysWhatItIs = (json: JsonSchema) =>
  ['format', 'pattern', 'enum', 'const', 'allOf', 'contentMediaType'].some((word) => word in json)

const repeated = (values: readonly string[]) => values.filter((value, index) => values.indexOf(value) !== index)

/** Native functions of a text, and formats that read it once. */
const isCheap = ({ check, format, pattern, tx }: CheckDef): boolean =>
  check === 'min_length' ||
  (check === 'overwrite' && /^\((\w+)\) => \1\.(trim|toLowerCase|toUpperCase)\(\)$/.test(String(tx))) ||
  ['url', 'uuid', 'date', 'datetime'].includes(format ?? '') ||
  (format === 'regex' &&
    pattern !== undefined &&
    !/[^\\][*+]|\{\d+,\}/.test(pattern.source.replace(/\[[^\]]*\]/g, '.')))

interface CheckDef {
  check?: string
  format?: string
  pattern?: RegExp
  tx?: unknown
}

/** The texts below a schema with a check before their length that may cost more than one look at each character. */
function unboundedTexts(schema: z.core.$ZodType, path: string): string[] {
  const { def } = schema._zod as unknown as { def: CheckDef & { type: string; in?: z.core.$ZodType } }
  const own = [...(def.check ? [def] : []), ...checksOf(schema).map(({ _zod }) => _zod.def as CheckDef)]
  const length = checksOf(schema).findIndex(isLengthCheck)
  const before = length < 0 ? own : own.slice(0, own.length - checksOf(schema).length + length)
  const found = def.type === 'string' && before.some((one) => !isCheap(one)) ? [path] : []
  // What follows a text in a pipe runs only if all of its checks passed.
  const below = def.type === 'pipe' && def.in?._zod.def.type === 'string' ? [def.in] : schemasBelow(schema)
  return [...found, ...below.flatMap((one) => unboundedTexts(one, `${path}.`))]
}

function spread(socket: string, alsoOn: readonly string[] = []): string[] {
  const [where = '', event] = socket.split(' ')
  return [...(where === '*' ? namespaces : [where]), ...alsoOn].map((namespace) => `${namespace} ${event}`)
}

const routesAndSockets = (operation: (typeof operations)[number]['operation']) => [
  ...spellingsOf(operation).map(({ route }) => route),
  ...(operation.socket ? [operation.socket] : []),
]

function isNested(field: z.ZodType): boolean {
  const json = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' })
  return [json, ...(json.anyOf ?? [])].some(({ type }) => type === 'object' || type === 'array')
}

const matcherOf = (path: string) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`, 'i')

/** In the order in which the door asks them. */
function mountedRoutes(): { method: string; path: string; isAsked: boolean; matcher: RegExp }[] {
  const bound = operations.map((declared) => ({ ...declared, action: () => undefined }))
  const door = { bound } as unknown as Parameters<typeof mountsOf>[0]
  return mountsOf(door).map(({ method, path, query }) => {
    return { method, path, isAsked: query !== undefined, matcher: matcherOf(path) }
  })
}
