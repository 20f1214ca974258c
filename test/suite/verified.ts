import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { root } from './files.ts'
import { foldersOf } from './folders.ts'
import { projectOf } from './projects.ts'
import { nameOf, type Part } from './tiers.ts'
import { forgetHashes, hashOf, treeOf } from './trees.ts'

/** What is known of the parts that `npm test` leaves out while nothing of theirs has changed. */
const FILE = 'test/verified.json'

const Entry = z.strictObject({
  /** One hash of all folders of the part, as they were when it was last green. */
  tree: z.string().regex(/^[0-9a-f]{40}$/),
  /** The commit whose folders these are. */
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  passed: z.number().int().nonnegative(),
  seal: z.string(),
})
export type Entry = z.infer<typeof Entry>
const File = z.strictObject({ parts: z.record(z.string(), Entry) })

export function readVerified(text = readFileSync(join(root, FILE), 'utf8')): ReadonlyMap<string, Entry> {
  return new Map(Object.entries(File.parse(JSON.parse(text)).parts))
}

/** A line a part, so that a change shows what was run. */
export function writeVerified(entries: ReadonlyMap<string, Entry>): void {
  const lines = [...entries]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, entry]) => `    ${JSON.stringify(name)}: ${lineOf(entry)}`)
  writeFileSync(join(root, FILE), `{\n  "parts": {\n${lines.join(',\n')}\n  }\n}\n`)
}

const lineOf = (entry: Entry) =>
  `{ ${Object.entries(entry)
    .map(([field, value]) => `"${field}": ${JSON.stringify(value)}`)
    .join(', ')} }`

/** A checksum, so that a line that was changed by hand is noticed. */
export const sealOf = (name: string, { tree, commit, passed }: Omit<Entry, 'seal'>): string =>
  createHash('sha256').update([name, tree, commit, passed].join('\n')).digest('hex').slice(0, 12)

/** One hash of all that a part depends on: its folders, and how its project runs it. */
export function treeOfPart({ project, file }: Part, hashAt?: (path: string) => string | null): string {
  const { env = {}, needs = [], isolate = false } = projectOf(project)
  return treeOf(foldersOf(file), hashAt, JSON.stringify([env, needs, isolate]))
}

/** Why a part has to run; null where its folders are those with which it was last green. */
export function reasonToRun(part: Part, entry: Entry | undefined): string | null {
  if (!entry) return 'never seen green'
  if (treeOfPart(part) === entry.tree) return null
  const folders = foldersOf(part.file)
  const then = hashesAt(entry.commit)
  const since = `since ${entry.commit.slice(0, 9)}`
  if (!then) return `something of its ${folders.length} folders has changed ${since}`
  const changed = folders.filter((path) => hashOf(path) !== (then.get(path) ?? null))
  return changed.length === 0 ? `depends on other folders ${since}` : `${listOf(changed)} changed ${since}`
}

const listOf = (paths: readonly string[]) =>
  paths.length > 3 ? `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(', ')

/** Why an entry cannot be believed; null where nothing speaks against it. */
export function faultOf(name: string, entry: Entry, part: Part | undefined): string | null {
  if (!part) return 'no such part: remove its line'
  if (entry.seal !== sealOf(name, entry)) return 'was written by hand: its seal is wrong'
  if (!isWholeHistory()) return null
  if (git('merge-base', '--is-ancestor', entry.commit, 'HEAD') === null) return 'its commit is not in the history'
  if (treeOfPart(part) !== entry.tree) return null
  const then = hashesAt(entry.commit)
  const was = treeOfPart(part, (path) => then?.get(path) ?? null)
  return was === entry.tree ? null : 'its commit has other folders'
}

/** What a part that is green now was tested with; null where that is not committed. */
export type Facts = Pick<Entry, 'tree' | 'commit'>

export function factsOf(part: Part): Facts | null {
  const commit = git('rev-parse', 'HEAD')?.trim()
  const then = commit === undefined ? undefined : hashesAt(commit)
  if (commit === undefined || !then) return null
  const tree = treeOfPart(part)
  return tree === treeOfPart(part, (path) => then.get(path) ?? null) ? { tree, commit } : null
}

let whole: boolean | undefined

function isWholeHistory(): boolean {
  whole ??= git('rev-parse', '--is-shallow-repository')?.trim() === 'false'
  return whole
}

const known = new Map<string, ReadonlyMap<string, string> | undefined>()

/** What git has of a commit: the hash of each file and folder; undefined where it does not have the commit. */
function hashesAt(commit: string): ReadonlyMap<string, string> | undefined {
  if (known.has(commit)) return known.get(commit)
  const lines = git('ls-tree', '-r', '-t', '-z', commit)?.split('\0')
  const hashes = lines && new Map(lines.flatMap((line) => hashIn(line)))
  known.set(commit, hashes)
  return hashes
}

function hashIn(line: string): [path: string, hash: string][] {
  const [, hash, path] = /^\d+ \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
  return hash === undefined || path === undefined ? [] : [[path, hash]]
}

/** Null where git refuses, or is not there. */
function git(...args: readonly string[]): string | null {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 26,
    })
  } catch {
    return null
  }
}

export interface Stale {
  part: Part
  why: string
}

/** The parts whose folders are not those with which they were last green. */
export function staleParts(parts: readonly Part[]): Stale[] {
  const entries = readVerified()
  return parts.flatMap((part) => {
    const why = reasonToRun(part, entries.get(nameOf(part)))
    return why === null ? [] : [{ part, why }]
  })
}

/** A part that was green, how many of its tests passed, and what it was tested with. */
export interface Green {
  part: Part
  passed: number
  facts: Facts | null
}

/**
 * Notes the parts that were green, and forgets those that no longer exist. Answers how many lines are new, and how many parts could
 * not be noted, as something that they depend on is not committed, or has changed meanwhile.
 */
export function recordGreen(green: readonly Green[], all: readonly Part[]): { lines: number; unknown: number } {
  const names = new Set(all.map(nameOf))
  const before = readVerified()
  const entries = new Map([...before].filter(([name]) => names.has(name)))
  forgetHashes()
  let unknown = 0
  for (const { part, passed, facts } of green) {
    const name = nameOf(part)
    const old = entries.get(name)
    const isAsTested = facts !== null && treeOfPart(part) === facts.tree
    if (!facts || !isAsTested) unknown += 1
    else if (old?.tree !== facts.tree || faultOf(name, old, part) !== null)
      entries.set(name, { ...facts, passed, seal: sealOf(name, { ...facts, passed }) })
  }
  writeVerified(entries)
  return { lines: [...entries].filter(([name, entry]) => before.get(name) !== entry).length, unknown }
}
