import { describe, expect, test } from 'vitest'
import { childrenOf, everythingIn, filesUnder, isSyntax, nameOf, programOf, type Syntax, textOf } from './sources.ts'

/** What a process has for all its nodes, and why no node can tell. */
const ofTheProcess: Readonly<Record<string, string>> = {
  'server/kernel/ids.ts: used': 'ids of a process are in the order they are made, whoever makes them',
  'server/kernel/ids.ts: at': 'ids of a process are in the order they are made, whoever makes them',
  'server/kernel/ids.ts: place': 'ids of a process are in the order they are made, whoever makes them',
  'server/kernel/connection.ts: connections': 'a socket is of one node',
  'server/kernel/sockets.ts: accepted': 'a socket is of one node',
  'server/kernel/invoke.ts: callerFields': 'follows from the schema, which does not change',
  'server/domains/identity/tokens.ts: proven': 'follows from the keys and the token, which do not change',
  'server/domains/rooms/shown.ts: shown': 'follows from the row, which does not change',
  'server/domains/wallet/balances.ts: amounts': 'kept with the adapter of the chain that said it',
  'server/domains/wallet/safes.ts: states': 'kept with the adapter of the chain that said it',
  'server/domains/wallet/transactions.ts: found': 'kept with the adapter of the chain that said it',
  'server/domains/text/skeleton.ts: known': 'follows from the word',
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

/** The names that are written to, by assignment or by a method that changes what it is called on. */
function changedIn(program: Syntax): Set<string> {
  const target = (node: Syntax): string => {
    if (node.type === 'AssignmentExpression') return nameOf((node.left as Syntax).object)
    if (node.type === 'UpdateExpression') return nameOf((node.argument as Syntax).object)
    if (node.type === 'UnaryExpression' && node.operator === 'delete') return nameOf((node.argument as Syntax).object)
    const callee = node.type === 'CallExpression' ? (node.callee as Syntax) : null
    return callee && changing.has(nameOf(callee.property)) ? nameOf(callee.object) : ''
  }
  return new Set(everythingIn(program).map(target))
}

/** Is it declared as a collection that nothing can be put into? */
const isReadonly = ({ typeAnnotation }: Syntax): boolean =>
  isSyntax(typeAnnotation) && /^Readonly(Map|Set)$/.test(nameOf((typeAnnotation.typeAnnotation as Syntax).typeName))

function statesIn(path: string, code: string): string[] {
  const program = programOf(path, code)
  const changed = changedIn(program)
  const declarations = (program.body as Syntax[])
    .map((statement) => (isSyntax(statement.declaration) ? statement.declaration : statement))
    .filter(({ type }) => type === 'VariableDeclaration')
  return declarations.flatMap(({ kind, declarations: declared }) =>
    (declared as Syntax[]).flatMap(({ id, init }) => {
      const made = isSyntax(init) ? loaded(init) : []
      if (kind === 'const' && isReadonly(id as Syntax)) return []
      const isState = kind !== 'const' || (nameOf(id) !== '' && changed.has(nameOf(id))) || made.some(isMadeToChange)
      return isState ? [`${path}: ${nameOf(id)}`] : []
    }),
  )
}

describe('a node keeps its state itself, so that two in one process share nothing', () => {
  test('no module of the kernel or of a domain has any, but for what follows from something that does not change', () => {
    const paths = ['server/demo', 'server/domains', 'server/kernel', 'server/log']
      .flatMap(filesUnder)
      .filter((path) => path.endsWith('.ts'))
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
    'const found = new Map([[1, 2]])\nexport function grow() { found.set(2, 3) }',
    'const found = { count: 0 }\nexport const grow = () => { found.count++ }',
    'const found: Record<string, number> = {}\nexport const set = (name: string) => { found[name] = 1 }',
    'const found = new Registry()',
    'const found = createTurnstile()',
  ])('the law finds: %s', (code) => expect(statesIn('a.ts', code)).toEqual(['a.ts: found']))

  test.each([
    "const names = new Set(['a', 'b'])",
    'const none: readonly string[] = []',
    'const none: ReadonlyMap<string, number> = new Map()',
    'const stateOn = nodeState(() => new Map<string, number>())',
    'export function make() { let count = 0; return () => count++ }',
  ])('the law allows: %s', (code) => expect(statesIn('a.ts', code)).toEqual([]))
})
