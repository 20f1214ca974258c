import { describe, expect, test } from 'vitest'
import { childrenOf, everythingIn, filesUnder, isSyntax, nameOf, programOf, type Syntax, textOf } from './sources.ts'

/** What a process has for all its nodes, and why no node can tell. */
const ofTheProcess: Readonly<Record<string, string>> = {
  'server/kernel/beat.ts: beats': 'a process wakes for all its nodes at once',
  'server/kernel/ids.ts: used': 'ids of a process are in the order they are made, whoever makes them',
  'server/kernel/ids.ts: at': 'ids of a process are in the order they are made, whoever makes them',
  'server/kernel/ids.ts: serial': 'ids of a process are in the order they are made, whoever makes them',
  'server/kernel/store/model.ts: declared': 'what a model says of its rows, which does not change',
  'server/kernel/http/deadline.ts: pending': 'an answer is of one node',
  'server/kernel/http/http-errors.ts: grouped': 'follows from the operations, which do not change',
  'server/kernel/sockets/connection.ts: connections': 'a socket is of one node',
  'server/kernel/sockets/meter.ts: meters': 'a connection is of one node',
  'server/kernel/invoke.ts: checked': 'follows from the item, which does not change',
  'server/kernel/store/items.ts: lines': 'follows from the item, which does not change',
  'server/kernel/invoke.ts: callerFields': 'follows from the schema, which does not change',
  'server/domains/people/identity/tokens.ts: proven': 'follows from the keys and the token, which do not change',
  'server/domains/rooms/room-state/rendered.ts: renderedMessages': 'follows from the row, which does not change',
  'server/domains/rooms/tokens/gate.ts: cachedBalances': 'kept with the adapter of the chain that said it',
  'server/domains/rooms/tokens/index.ts: cachedTokens': 'kept with the adapter of the chain that said it',
  'server/domains/people/wallet/safes.ts: amounts': 'kept with the adapter of the chain that said it',
  'server/domains/people/wallet/safes.ts: states': 'kept with the adapter of the chain that said it',
  'server/domains/people/wallet/index.ts: cachedTransfers': 'kept with the adapter of the chain that said it',
  'server/domains/rooms/text/skeleton.ts: known': 'follows from the word',
  'server/domains/rooms/room-state/judge-draft.ts: blocked': 'follows from the word, which does not change',
  'server/domains/moderation/verdict/words.ts: forms': 'follows from the word, which does not change',
  'server/domains/moderation/verdict/program.ts: known': 'follows from the character',
  'server/domains/moderation/verdict/patterns.ts: checkedPatterns': 'follows from the pattern',
  'server/domains/moderation/verdict/patterns.ts: compiled': 'follows from the patterns, which do not change',
  'server/domains/moderation/verdict/patterns.ts: programs': 'follows from the pattern, which does not change',
  'server/domains/platform/own-data/archive-pages.ts: formed': 'a format of times, which does not change',
  'server/ports/database/embedded/environment.ts: isHushed': 'what is printed is of the process',
  'server/ports/database/embedded/keys.ts: length': 'a key is written at once, before anything else runs',
  'server/ports/database/embedded/keys.ts: scratch': 'a key is written at once, before anything else runs',
  'server/ports/database/embedded/lock.ts: ours': 'a lock is of the process',
  'server/ports/database/embedded/values.ts: soundNames': 'follows from the name',
  'server/ports/redis/ioredis.ts: hashes': 'follows from the script',
  'server/ports/web/guarded.ts: globalV6': 'a list of networks that is never changed',
  'server/ports/web/guarded.ts: notPublicV4': 'a list of networks that is never changed',
  'server/ports/web/guarded.ts: notPublicV6': 'a list of networks that is never changed',
}

const isFunction = ({ type }: Syntax) => /Function/.test(type)
/** What runs as the module is loaded. */
const loaded = (node: Syntax): Syntax[] => [node, ...(isFunction(node) ? [] : childrenOf(node).flatMap(loaded))]

const collections = new Set(['Map', 'Set', 'WeakMap', 'WeakSet'])
const makers = /^(create(?!Require)|keep|monitor|open|start)[A-Z]/
const changing = new Set('set add delete clear push pop shift unshift splice sort reverse fill'.split(' '))
const harmless = new Set(['Date', 'RegExp', 'URL', 'TextEncoder', 'TextDecoder', 'AppError', 'Schema', 'Uint8Array'])

/** Is this made to be filled, or to change by itself? */
function isMadeToChange(node: Syntax): boolean {
  const name = nameOf(node.callee)
  if (node.type === 'CallExpression') return makers.test(name)
  if (node.type !== 'NewExpression' || harmless.has(name)) return false
  return !collections.has(name) || (node.arguments as unknown[]).length === 0
}

const changers = /^(Object\.(assign|define\w+|setPrototypeOf)|Reflect\.(set|define\w+|delete\w+))$/

/** The name that a chain of properties begins with. */
const rootOf = (node: unknown): string =>
  isSyntax(node) && node.type === 'MemberExpression' ? rootOf(node.object) : nameOf(node)

/** The names that are written to: by assignment, by a method that changes what it is called on, or by a function that changes its first argument. */
function changedIn(program: Syntax): Set<string> {
  const target = (node: Syntax): string => {
    if (node.type === 'AssignmentExpression') return rootOf(node.left)
    if (node.type === 'UpdateExpression') return rootOf(node.argument)
    if (node.type === 'UnaryExpression' && node.operator === 'delete') return rootOf(node.argument)
    if (node.type !== 'CallExpression') return ''
    const { object, property } = node.callee as Syntax
    if (changing.has(nameOf(property))) return rootOf(object)
    return changers.test(`${nameOf(object)}.${nameOf(property)}`) ? rootOf((node.arguments as unknown[])[0]) : ''
  }
  return new Set(everythingIn(program).map(target))
}

const declaredIn = (nodes: readonly Syntax[]): Syntax[] =>
  nodes.filter(({ type }) => type === 'VariableDeclarator').filter(({ init }) => isSyntax(init))

const bare = (node: Syntax): Syntax =>
  node.type === 'ParenthesizedExpression' ? bare(node.expression as Syntax) : node

/** The functions of a file by their names. */
const functionsIn = (program: Syntax): ReadonlyMap<string, Syntax> =>
  new Map(
    everythingIn(program).flatMap((node) => {
      if (node.type === 'FunctionDeclaration') return [[nameOf(node.id), node]]
      const isNamed = node.type === 'VariableDeclarator' && isSyntax(node.init) && isFunction(node.init)
      return isNamed ? [[nameOf(node.id), node.init as Syntax]] : []
    }),
  )

/** Does what is loaded call a function, of this file or on the spot, that leaves something behind that changes? */
function callsForState(
  made: readonly Syntax[],
  functions: ReadonlyMap<string, Syntax>,
  seen = new Set<Syntax>(),
): boolean {
  const callees = made.filter(({ type }) => type === 'CallExpression').map(({ callee }) => bare(callee as Syntax))
  const called = callees.flatMap((callee) => (isFunction(callee) ? callee : (functions.get(nameOf(callee)) ?? [])))
  return called
    .filter((one) => !seen.has(one))
    .some((one) => {
      seen.add(one)
      const body = childrenOf(one).flatMap(loaded)
      return leavesState(one, body) || callsForState(body, functions, seen)
    })
}

/** A variable that a function inside writes to, or a collection that is returned to be filled. */
function leavesState(called: Syntax, body: readonly Syntax[]): boolean {
  const written = new Set(body.filter(isFunction).flatMap((inside) => [...changedIn(inside)]))
  const declared = declaredIn(body)
  const answers = body.filter(({ type }) => type === 'ReturnStatement').flatMap(childrenOf)
  const answered = (called.expression === true ? [...answers, called.body as Syntax] : answers).flatMap(loaded)
  const filled = declared.filter(({ init }) => isMadeToChange(init as Syntax)).map(({ id }) => nameOf(id))
  return (
    declared.some(({ id }) => written.has(nameOf(id))) ||
    answered.some((node) => isMadeToChange(node) || (node.type === 'Identifier' && filled.includes(nameOf(node))))
  )
}

/** Is it declared as a collection that nothing can be put into? */
const isReadonly = ({ typeAnnotation }: Syntax): boolean =>
  isSyntax(typeAnnotation) && isReadonlyType(typeAnnotation.typeAnnotation as Syntax)

const isReadonlyType = ({ typeName, operator }: Syntax): boolean =>
  operator === 'readonly' || /^Readonly(Map|Set|Array)$/.test(nameOf(typeName))

const isEmptyList = (node: unknown): boolean =>
  isSyntax(node) && node.type === 'ArrayExpression' && (node.elements as unknown[]).length === 0

function statesIn(path: string, code: string): string[] {
  const program = programOf(path, code)
  const changed = changedIn(program)
  const functions = functionsIn(program)
  const declarations = (program.body as Syntax[])
    .map((statement) => (isSyntax(statement.declaration) ? statement.declaration : statement))
    .filter(({ type }) => type === 'VariableDeclaration')
  return declarations.flatMap(({ kind, declarations: declared }) =>
    (declared as Syntax[]).flatMap(({ id, init }) => {
      const made = isSyntax(init) ? loaded(init) : []
      if (kind === 'const' && isReadonly(id as Syntax)) return []
      const isWritten = nameOf(id) !== '' && changed.has(nameOf(id))
      const isState =
        kind !== 'const' ||
        isWritten ||
        isEmptyList(init) ||
        made.some(isMadeToChange) ||
        callsForState(made, functions)
      return isState ? [`${path}: ${nameOf(id)}`] : []
    }),
  )
}

describe('a node keeps its state itself, so that two in one process share nothing', () => {
  test('no module of the server has any, but for what follows from something that does not change', () => {
    const paths = filesUnder('server').filter((path) => path.endsWith('.ts'))
    expect(paths.flatMap((path) => statesIn(path, textOf(path))).toSorted()).toEqual(
      Object.keys(ofTheProcess).toSorted(),
    )
  })

  test.each([
    'let found = 0',
    'export let found = 0',
    'const found = new Map<string, number>()',
    'export const found = new WeakMap<Node, number>()',
    'const found = { kept: new Set<string>() }',
    'const found: string[] = []\nexport const add = (one: string) => found.push(one)',
    'const found: string[] = []\nexport const all = () => found',
    'const found = new Map([[1, 2]])\nexport function grow() { found.set(2, 3) }',
    'const found = { count: 0 }\nexport const grow = () => { found.count++ }',
    'const found: Record<string, number> = {}\nexport const set = (name: string) => { found[name] = 1 }',
    'const found = new Registry()',
    'const found = createTurnstile()',
    'const found = (() => { let n = 0; return () => ++n })()',
    'const found = (() => { const kept = new Map(); return (id: string) => kept.set(id, 1) })()',
    'const found = counter()\nfunction counter() { let n = 0; return () => ++n }',
    'const counter = () => { const kept = { n: 0 }; return () => kept.n++ }\nconst found = [counter()]',
    'const empty = () => new Map<string, number>()\nconst found = empty()',
    'const found = { a: 0 }\nexport const set = (a: number) => Object.assign(found, { a })',
    'const found = { a: { b: 0 } }\nexport const set = (b: number) => { found.a.b = b }',
  ])('the law finds: %s', (code) => expect(statesIn('a.ts', code)).toEqual(['a.ts: found']))

  test.each([
    "const names = new Set(['a', 'b'])",
    'const none: readonly string[] = []',
    'const none: ReadonlyMap<string, number> = new Map()',
    'const stateOn = nodeState(() => new Map<string, number>())',
    'export function make() { let count = 0; return () => count++ }',
    'const sum = (() => { let n = 0; for (const one of [1, 2]) n += one; return n })()',
  ])('the law allows: %s', (code) => expect(statesIn('a.ts', code)).toEqual([]))
})
