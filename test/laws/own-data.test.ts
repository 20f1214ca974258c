import { Schema } from 'mongoose'
import { expect, test } from 'vitest'
import { declaredModels } from '#server/kernel/store/model'
import { archivedModelOf, type OwnData } from '#server/kernel/store/own-data'
import { api } from '#shared/api/index'
import { privacyText } from '../../scripts/own-data-table.ts'
import { filesUnder, findings, root, sourcesOf, textOf } from './sources.ts'

for (const path of filesUnder('server').filter((path) => path.endsWith('/model.ts'))) await import(`${root}/${path}`)

const models = declaredModels().map(({ model, own }) => ({
  name: model.modelName,
  own,
  fields: fieldsOf(model.schema),
}))

interface Field {
  path: string
  isText: boolean
}

/** Every field of a schema, those of parts of its lists too. */
function fieldsOf(schema: Schema, before = ''): Field[] {
  return Object.entries(schema.paths).flatMap(([name, type]) => {
    const path = `${before}${name}`
    const below = (type as { schema?: Schema }).schema
    return below
      ? fieldsOf(below, `${path}.`)
      : [{ path, isText: ['String', 'Mixed', 'Array'].includes(type.instance) }]
  })
}

/** An account, or what else says who somebody is. */
const accounts =
  /(^|_|\.)(account|accounts|address|addresses|owner|sender|target|actor|payer|pay_to|caller|callee|peers|parties|booker|members|identity|tried|permanent_of|by)$/
const person = /(^|_|\.)(e?mail|phone|phone_number|ip|ip_address|user_agent|device|browser|from|endpoint|position)$/
/** What somebody has written, or is called. */
const words =
  /(^|_|\.)(name|nickname|label|title|description|bio|text|content|message|notes?|reason|memo|topic|words?|terms|question|body|value|poll|steps|replication_steps|socials|config|widgets|theme|tag)$/
const secrets =
  /(hash|token|secret|sealed|proof|vector|endpoint|p256dh|(^|_)(auth|chain|claim|claims|lots|key|private_key_encrypted|backup_encrypted|salt|commitment)$)/
/** Of a token on a chain, of a key that everybody may know, or what else only sounds so. */
const open = /^(token_expires_at|gate|is_as_sent)$|public_key|_tokens$|^tokens$/

const fieldsNamed = (own: Exclude<OwnData, "nobody's">) => {
  const shares = own.shares.flatMap((share) => [
    ...(share.owner === null ? [] : [share.owner]),
    ...('clears' in share ? (share.clears ?? []) : []),
    ...(share.hides ?? []),
    ...(share.renames ?? []),
  ])
  return { shares, secret: own.secret ?? [], stays: own.stays ?? [] }
}
const covers = (named: readonly string[], path: string) =>
  named.some((field) => path === field || path.startsWith(`${field}.`))

/** What is wrong with a declaration. */
function faultsOf({ name, own, fields }: { name: string; own: OwnData | null; fields: readonly Field[] }): string[] {
  const say = (path: string, what: string) => `${name}.${path} ${what}`
  if (own === null) return [`${name} does not say whose it is`]
  if (own === "nobody's")
    return fields
      .filter(({ path }) => [accounts, person, words].some((kind) => kind.test(path)))
      .map(({ path }) => say(path, "sounds like a person's, and the model is nobody's"))
  const { shares, secret, stays } = fieldsNamed(own)
  const owners = own.shares.flatMap(({ owner }) => owner ?? [])
  const goes = own.shares.some(({ becomes }) => becomes === 'erase')
  const isUncovered = ({ path, isText }: Field) => {
    if (!isText || covers(stays, path)) return false
    if (accounts.test(path) && !person.test(path)) return !covers(owners, path)
    return (person.test(path) || words.test(path)) && !goes && !covers([...shares, ...secret], path)
  }
  const isLeaked = ({ path }: Field) =>
    typeof own.archive === 'string' && secrets.test(path) && !open.test(path) && !covers([...secret, ...stays], path)
  const known = fields.map(({ path }) => path)
  const isUnknown = (path: string) => !known.some((field) => field === path || field.startsWith(`${path}.`))
  return [
    ...fields
      .filter(isUncovered)
      .map(({ path }) => say(path, "sounds like a person's, and the declaration does not cover it")),
    ...fields.filter(isLeaked).map(({ path }) => say(path, 'sounds like a secret, and an archive would have it')),
    ...[...shares, ...secret, ...stays].filter(isUnknown).map((path) => say(path, 'is no field')),
    ...own.shares
      .filter(({ through }) => through !== undefined && !models.some((model) => model.name === through))
      .map(({ through }) => `${name}: there is no model ${through}`),
    ...(typeof own.archive === 'string' && !(own.archive in api) ? [`${name}: there is no domain ${own.archive}`] : []),
  ]
}

test('each stored model says whose it is, and what becomes of it', () => {
  expect(models.length).toBeGreaterThan(80)
  expect(models.flatMap(faultsOf)).toEqual([])
})

test('what an archive asks for is found by an index: no export reads what is stored of everybody', () => {
  const scanned = declaredModels().flatMap(({ model, own }) => {
    const indexes = model.schema.indexes().filter(([, options]) => options.partialFilterExpression === undefined)
    const first = new Set(['_id', ...indexes.map(([fields]) => Object.keys(fields)[0])])
    const shares = own && archivedModelOf(model.modelName, own)?.shares
    return (shares ?? []).flatMap(({ owner }) => (first.has(owner ?? '') ? [] : [`${model.modelName}.${owner}`]))
  })
  expect(scanned).toEqual([])
})

test('docs/privacy.md has the table of them; `npm run docs` writes it', () => {
  expect(textOf('docs/privacy.md')).toBe(privacyText())
})

test('no model is made without saying so', () => {
  const made = findings(sourcesOf('server'), /\bmongoose\.model\(|\bmodel\(\s*'|\bmodel\b[^\n]*from 'mongoose'/g)
  const isMaker = (found: string) => /^server\/(kernel\/store|log)\/model\.ts: /.test(found)
  expect(made.filter((found) => !isMaker(found))).toEqual([])
  expect(made.filter(isMaker).length).toBeGreaterThan(0)
})

test.each<[string, object, OwnData | null, string]>([
  ['no declaration', { note: String }, null, 'Planted does not say whose it is'],
  [
    'an address',
    { owner_address: String },
    "nobody's",
    "Planted.owner_address sounds like a person's, and the model is nobody's",
  ],
  [
    'a second account',
    { a: String, given_by: String },
    { shares: [{ owner: 'a', becomes: 'erase' }], archive: 'stars' },
    "Planted.given_by sounds like a person's, and the declaration does not cover it",
  ],
  ...['email', 'guest_phone', 'ip_address', 'user_agent', 'notes', 'display_name'].map(
    (field): [string, object, OwnData, string] => [
      field,
      { a: String, [field]: String },
      { shares: [{ owner: 'a', becomes: 'unlink' }], archive: 'stars' },
      `Planted.${field} sounds like a person's, and the declaration does not cover it`,
    ],
  ),
  [
    'a text in a list',
    { a: String, list: [{ text: String, _id: false }] },
    { shares: [{ owner: 'a', becomes: 'unlink' }], archive: 'stars' },
    "Planted.list.text sounds like a person's, and the declaration does not cover it",
  ],
  [
    'a secret',
    { a: String, token_hash: String },
    { shares: [{ owner: 'a', becomes: 'erase' }], archive: 'stars' },
    'Planted.token_hash sounds like a secret, and an archive would have it',
  ],
  [
    'a field that is gone',
    { a: String },
    { shares: [{ owner: 'a', becomes: 'erase' }], archive: 'stars', secret: ['b'] },
    'Planted.b is no field',
  ],
  [
    'no domain',
    { a: String },
    { shares: [{ owner: 'a', becomes: 'erase' }], archive: 'moons' },
    'Planted: there is no domain moons',
  ],
])('that law sees: %s', (_title, shape, own, fault) => {
  const fields = fieldsOf(new Schema(shape as never))
  expect(faultsOf({ name: 'Planted', own, fields })).toEqual([fault])
})
