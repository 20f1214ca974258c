import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isForModerators, roomKinds, roomTypes } from '#shared/kit/room-kinds'
import { childrenOf, filesUnder, isSyntax, nameOf, programOf, root, type Syntax } from './sources.ts'

const types: ReadonlySet<unknown> = new Set(roomTypes)

/** What says what a kind is, and where paths of the specification name some kinds and not others. */
const named: readonly RegExp[] = [
  /^shared\/kit\/room-kinds\.ts$/,
  /^server\/domains\/rooms\/room-state\/kinds\.ts$/,
  // `messageType` of the documented paths of moderation.
  /^shared\/api\/moderation\/moderation-paths\.ts$/,
  // Words that no id of a partner begins with.
  /^server\/domains\/people\/federation\/index\.ts$/,
]

/** The kind that a text names: alone, or at the start of a key. */
function kindIn(node: unknown): string | null {
  if (!isSyntax(node)) return null
  if (node.type === 'TSLiteralType') return kindIn(node.literal)
  if (node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression') return kindIn(node.expression)
  const text = node.type === 'TemplateLiteral' ? textOf(node) : node.type === 'Literal' ? node.value : null
  if (typeof text !== 'string') return null
  const [word = ''] = text.split(':')
  return types.has(word) ? word : null
}

const textOf = ({ quasis }: Syntax): unknown =>
  ((quasis as Syntax[])[0]?.value as { cooked?: unknown } | undefined)?.cooked

const kindsAmong = (nodes: unknown): string[] => [
  ...new Set((nodes as unknown[]).flatMap((node) => kindIn(node) ?? [])),
]
const several = (found: readonly string[]): readonly string[] => (found.length > 1 ? found : [])

const asking = new Set(['startsWith', 'endsWith', 'includes', 'indexOf', 'has', 'match', 'test', 'search', 'is'])
const patternOf = (node: Syntax): string => (node.regex as { pattern: string } | undefined)?.pattern ?? ''

/** The kinds that a piece of code tells apart: compared, given a name, matched, switched on, listed, looked up, or asked of a key or a store. */
function toldApart(node: Syntax): readonly string[] {
  switch (node.type) {
    case 'BinaryExpression':
      return kindsAmong([node.left, node.right])
    case 'VariableDeclarator':
      return kindsAmong([node.init])
    case 'Literal':
      return patternOf(node)
        .split(/\\\w|\W+/)
        .filter((word) => types.has(word))
    case 'SwitchCase':
      return kindsAmong([node.test])
    case 'NewExpression':
    case 'CallExpression': {
      const method = nameOf((node.callee as Syntax).property)
      const isAsking = asking.has(method) || nameOf(node.callee) === 'RegExp'
      return isAsking ? kindsAmong(node.arguments) : []
    }
    case 'MemberExpression':
      return kindsAmong([node.object])
    case 'ArrayExpression':
      return several(kindsAmong(node.elements))
    case 'TSUnionType':
      return several(kindsAmong(node.types))
    case 'ObjectExpression': {
      const properties = (node.properties as Syntax[]).filter(({ type }) => type === 'Property')
      const keys = properties.map(({ key }) => nameOf(key))
      const isRef = keys.includes('id')
      const asked = properties.filter(({ key }) => nameOf(key) === 'type' && !isRef).map(({ value }) => value)
      return [...several(keys.filter((key) => types.has(key))), ...kindsAmong(asked)]
    }
    default:
      return []
  }
}

const found = (node: Syntax): string[] => [...toldApart(node), ...childrenOf(node).flatMap(found)]

function straysIn(path: string, code: string): string[] {
  if (named.some((place) => place.test(path))) return []
  return found(programOf(path, code)).map((word) => `${path}: ${word}`)
}

test('what a kind of room is stands in its entries alone: nothing else tells kinds apart', () => {
  const paths = ['server', 'shared', 'client'].flatMap(filesUnder).filter((path) => /\.tsx?$/.test(path))
  expect(paths.flatMap((path) => straysIn(path, readFileSync(join(root, path), 'utf8')))).toEqual([])
})

test('somebody may write in every kind of room', () => {
  const silent = roomTypes.filter((type) => isForModerators(type) && !roomKinds[type].hasModerators)
  expect(silent).toEqual([])
})

test.each([
  "const a = room.type === 'dm'",
  "const a = 'dm' !== room.type",
  "const a = key.startsWith('dm:')",
  'const a = key.startsWith(`dm:`)',
  "const a = key.slice('dm:'.length)",
  "const a = ['dm', 'group'].includes(type)",
  "const a = new Set(['dm', 'group'])",
  'const a = { dm: 1, group: 2 }[type]',
  "const a = Rooms.find({ type: 'dm' })",
  "switch (type) { case 'dm': break }",
  "const direct = 'dm'\nexport const a = type === direct",
  "const direct = 'dm' as const",
  'const a = /^dm$/.test(type)',
  'const a = /^(dm|group):/.test(key)',
  'const a = new RegExp(`dm`)',
  "const a = type as 'dm' | 'group'",
])('the law finds: %s', (code) => {
  expect(straysIn('server/domains/rooms/inbox/a.ts', code)).toContain('server/domains/rooms/inbox/a.ts: dm')
})

test.each(["const a = { type: 'dm', id }", "found(context, 'dm', fields)", 'const a = roomKinds.dm'])(
  'the law lets a room be named: %s',
  (code) => {
    expect(straysIn('server/domains/rooms/inbox/a.ts', code)).toEqual([])
  },
)
