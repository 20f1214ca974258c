import { expect, test } from 'vitest'
import { recordOf } from '#server/domains/events'
import { globalEventTypes, roomEventTypes } from '#shared/api/rooms/room-events'
import { findings, parse, type Source, sourcesOf } from './sources.ts'

const types = Object.keys({ ...roomEventTypes, ...globalEventTypes })

/** Where the type of an event may be spelled out. */
const declarations = /^shared\/api\/rooms\/room-events\.ts$/
const records = /^server\/domains\/[^/]+\/[^/]+\/events(\/|\.ts$)/
/** Where it is said what is stored. */
const stores = /^server\/domains\/([^/]+\/[^/]+\/events(\/|\.ts$)|rooms\/events\/|rooms\/room-state\/fact-schemas\.ts$)/
const others: readonly RegExp[] = [
  declarations,
  // What protocol 2 leaves out of an event.
  /^shared\/api\/rooms\/lean\.ts$/,
  // What a client makes of an event, and how its page words it.
  /^client\/sdk\/(timeline|view)\.ts$/,
  /^client\/web\/messages\/notice-text\.ts$/,
  // What owners choose to be sent.
  /^client\/web\/rooms\/webhooks\.tsx$/,
]

const define = /defineEvent\('([^']+)'/g
const quoted = /'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`/g
const nouns = [...new Set(types.map((type) => type.split('.')[0] ?? ''))]

/** Does a text name events: one by its type, or all of a noun by how their types begin, on the server also as a pattern? */
function namesEvents(text: string, isServer: boolean): boolean {
  if (types.some((type) => text === type)) return true
  if (!isServer) return false
  return types.some((type) => text.split(/[^\w.]+/).includes(type)) || nouns.some((noun) => text === `${noun}.`)
}

function strays({ path, code }: Source): string[] {
  if (others.some((place) => place.test(path))) return []
  const isServer = path.startsWith('server/')
  const judged = records.test(path) ? code.replace(define, '') : code
  const texts = [...judged.matchAll(quoted)].map(([, single, double, template]) => single ?? double ?? template ?? '')
  const patterns = isServer ? nouns.filter((noun) => judged.includes(`${noun}\\.`)) : []
  return [...texts.filter((text) => namesEvents(text, isServer)), ...patterns].map((text) => `${path}: ${text}`)
}

test('the type of an event is spelled in its declaration, its record and what appends it alone', () => {
  expect(sourcesOf('server', 'client', 'shared').flatMap(strays)).toEqual([])
})

test.each([
  ['a comparison', 'server/domains/rooms/inbox/a.ts', "type === 'member.left'"],
  ['in other quotes', 'server/domains/rooms/inbox/a.ts', 'type === "member.left" || `member.left`'],
  ['a part of a longer text', 'server/domains/rooms/inbox/a.ts', '`$' + '{room}|member.left`'],
  ['by how types begin', 'server/domains/rooms/inbox/a.ts', "type.startsWith('member.')"],
  ['a pattern', 'server/domains/rooms/inbox/a.ts', '/^member\\.(left|joined)$/.test(type)'],
  [
    'a record of another event',
    'server/domains/rooms/room-state/events/a.ts',
    "defineEvent('member.joined', {}) && 'member.left'",
  ],
  ['an action of accounts', 'server/domains/people/accounts/roles.ts', "({ accept: { type: 'account.suspended' } })"],
  ['in the page', 'client/web/rooms/a.tsx', "type === 'member.left'"],
])('that law sees %s', (_title, path, code) => {
  expect(strays(parse(path, `export const a = (type: string, room: string) => ${code}`))).not.toEqual([])
})

test('every declared event has one record, of its own type', () => {
  expect(types.map((type) => recordOf(type)?.type)).toEqual(types)
  expect(recordOf('toString')).toBeNull()
  const defined = sourcesOf('server').flatMap(({ code }) => [...code.matchAll(define)].map(([, type]) => type))
  expect(defined.toSorted()).toEqual(types.toSorted())
})

test('what is appended is made from its record', () => {
  const domains = sourcesOf('server/domains')
  expect(domains.length).toBeGreaterThan(50)
  expect(findings(domains, /accept: \{(?! \.\.\.)/g)).toEqual([])
})

test('what an event stores is declared to the last field', () => {
  const stored = sourcesOf('server').filter(({ path }) => stores.test(path))
  expect(stored.length).toBeGreaterThan(5)
  expect(findings(stored, /z\.(custom|any|unknown|loose\w*)\b/g)).toEqual([])
})
