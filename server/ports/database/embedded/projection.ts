import { refuse, serverError } from './errors.ts'
import { parsePath } from './filter.ts'
import { type Fields, isFields, type Value } from './values.ts'

interface Tree {
  [field: string]: Tree | true
}
export type Projection = (document: Fields) => Fields

export function parseProjection(given: unknown): Projection {
  const entries = Object.entries(given ?? {})
  const wanted = entries.map(([name, value]) => ({ name, path: parsePath(name), keep: parseFlag(name, value) }))
  const first = wanted.find(({ name }) => name !== '_id') ?? wanted[0]
  if (!first) return (document) => document
  const tree = branchOf()
  for (const { name, path, keep } of wanted) {
    if (name === '_id') continue
    if (keep !== first.keep) {
      const [code, kind, other] = keep ? [31253, 'inclusion', 'exclusion'] : [31254, 'exclusion', 'inclusion']
      throw serverError(code, `Cannot do ${kind} on field ${name} in ${other} projection`)
    }
    plant(tree, path, name)
  }
  const id = wanted.find(({ name }) => name === '_id')?.keep ?? true
  if (id === first.keep) tree._id = true
  return first.keep ? (document) => include(document, tree) : (document) => exclude(document, tree)
}

/** Without the names that every object answers to. */
const branchOf = (): Tree => Object.create(null)

function parseFlag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean' || typeof value === 'number') return Boolean(value)
  return refuse(`the projection of ${name} by anything but 0 and 1`)
}

function plant(tree: Tree, path: string[], name: string): void {
  let branch = tree
  for (const [depth, field] of path.entries()) {
    const below = branch[field]
    const last = depth === path.length - 1
    if (below === true || (last && below)) throw serverError(31249, `Path collision at ${name}`)
    if (last) branch[field] = true
    else branch = branch[field] = below ?? branchOf()
  }
}

function include(fields: Fields, tree: Tree): Fields {
  const kept: Fields = {}
  for (const [name, value] of Object.entries(fields)) {
    const below = tree[name]
    if (below === true) kept[name] = value
    else if (isFields(value) && below) kept[name] = include(value, below)
    else if (Array.isArray(value) && below) kept[name] = includeItems(value, below)
  }
  return kept
}

function includeItems(items: Value[], tree: Tree): Value[] {
  return items.flatMap((item) => {
    if (Array.isArray(item)) return [includeItems(item, tree)]
    return isFields(item) ? [include(item, tree)] : []
  })
}

function exclude(fields: Fields, tree: Tree): Fields {
  const kept: Fields = {}
  for (const [name, value] of Object.entries(fields)) {
    const below = tree[name]
    if (below !== true) kept[name] = below ? excludeWithin(value, below) : value
  }
  return kept
}

function excludeWithin(value: Value, tree: Tree): Value {
  if (Array.isArray(value)) return value.map((item) => excludeWithin(item, tree))
  return isFields(value) ? exclude(value, tree) : value
}
