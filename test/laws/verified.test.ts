import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { testFiles } from '#test/suite/files'
import { folderOf, foldersOf } from '#test/suite/folders'
import { projectNames, projectOf } from '#test/suite/projects'
import { first, isFirst, nameOf, parts } from '#test/suite/tiers'
import { hashOf } from '#test/suite/trees'
import { type Entry, factsOf, faultOf, readVerified, reasonToRun, sealOf, treeOfPart } from '#test/suite/verified'
import { textOf } from './sources.ts'

const all = parts()
/** A copy without its history cannot look up a commit. */
const hasHistory = execFileSync('git', ['rev-parse', '--is-shallow-repository'], { encoding: 'utf8' }) === 'false\n'
const byName = new Map(all.map((part) => [nameOf(part), part]))

test('every test file is run every time, or is a part of the rest', () => {
  const run = projectNames.flatMap((project) => projectOf(project).files)
  expect(testFiles().filter((path) => !run.includes(path))).toEqual([])
  const twice = projectNames.flatMap((project) =>
    projectOf(project).files.filter(
      (file) => isFirst(project, file) && byName.has(nameOf({ project, file, tags: 'all' })),
    ),
  )
  expect(twice).toEqual([])
})

test('each file that the first tier names is of its project', () => {
  const named = projectNames.flatMap((project) => {
    const files = first[project]
    return ('but' in files ? files.but : files).map((file) => ({ project, file }))
  })
  expect(named.filter(({ project, file }) => !projectOf(project).files.includes(file))).toEqual([])
})

test('what test/verified.json says of each part was measured, and its commit has those folders', () => {
  const faults = [...readVerified()].flatMap(([name, entry]) => {
    const fault = faultOf(name, entry, byName.get(name))
    return fault === null ? [] : [`${name}: ${fault}`]
  })
  expect(faults).toEqual([])
})

describe('a part', () => {
  const part = all.find(({ file }) => file === 'test/server/rooms/rooms.test.ts') ?? never()
  const name = nameOf(part)
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
  const entry = (changes: Partial<Entry> = {}): Entry => {
    const facts = { tree: treeOfPart(part), commit, passed: 3, ...changes }
    return { seal: sealOf(name, facts), ...facts }
  }

  test('is left out while its folders are those with which it was green', () => {
    expect(reasonToRun(part, entry())).toBe(null)
  })

  test('is run where it was never green, and where a folder has changed since', () => {
    expect(reasonToRun(part, undefined)).toBe('never seen green')
    expect(reasonToRun(part, entry({ tree: '0'.repeat(40) }))).toMatch(/ since [0-9a-f]{9}$/)
  })

  test('is not believed where its line was written by hand', () => {
    const { passed } = entry()
    expect(faultOf(name, { ...entry(), passed: passed + 1 }, part)).toContain('its seal is wrong')
    expect(faultOf('embedded test/server/gone.test.ts', entry(), undefined)).toContain('no such part')
  })

  test.runIf(hasHistory)('is not believed where its commit is unknown, or has other folders', () => {
    expect(faultOf(name, entry({ commit: '1'.repeat(40) }), part)).toBe('its commit is not in the history')
    const [first = ''] = execFileSync('git', ['rev-list', '--max-parents=0', 'HEAD'], { encoding: 'utf8' }).split('\n')
    expect(faultOf(name, entry({ commit: first }), part)).toBe('its commit has other folders')
  })

  test('that is green is noted only where its folders are committed', () => {
    const isClean = foldersOf(part.file).every((path) => committed(path) === hashOf(path))
    expect(factsOf(part)).toEqual(isClean ? { tree: treeOfPart(part), commit } : null)
  })

  test('is another where its project runs it in another way', () => {
    const wide = { project: 'simulation-wide', file: 'test/simulation/simulation.test.ts', tags: 'all' } as const
    expect(treeOfPart(wide)).not.toBe(treeOfPart({ ...wide, project: 'simulation' }))
  })
})

const committed = (path: string) => {
  try {
    return execFileSync('git', ['rev-parse', `HEAD:${path}`], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return null
  }
}

describe('the folders of a part', () => {
  test('hold all that its test file imports of the product and of other tests', () => {
    const missing = [...new Set(all.map(({ file }) => file))].flatMap((file) => {
      const folders = foldersOf(file)
      return importsOf(textOf(file))
        .map(folderOf)
        .filter((path) => !registries.includes(path) && !folders.some((folder) => isWithin(path, folder)))
        .map((path) => `${file}: ${path}`)
    })
    expect(missing).toEqual([])
  })

  test('are there, and none of them holds what is noted of the parts', () => {
    const folders = [...new Set(all.flatMap(({ file }) => foldersOf(file)))]
    expect(folders.filter((path) => hashOf(path) === null || path.includes('..') || path === 'test')).toEqual([])
  })

  test.each([
    ['what a program is built of, for who starts it', 'test/nodes/workers.test.ts', 'server/workers.ts'],
    ['what kill tests start', 'test/server/platform/jobs.kill.test.ts', 'server/main.ts'],
    ['what the faults start', 'test/faults/run.ts', 'server/hand-offs.ts'],
    ['a program beside the test', 'test/store/damage.kill.test.ts', 'test/store/holder.ts'],
    ['vectors whose names are put together', 'test/client/direct.test.ts', 'test/vectors'],
    ['how the page is built', 'test/browser/polls.test.ts', 'vite.config.ts'],
    ['gates, which rooms ask', 'test/server/rooms/gates.test.ts', 'server/domains/rooms/attendance'],
    ['the kernel and the log, for all that boots a server', 'test/server/rooms/polls.test.ts', 'server/log'],
    [
      'a domain whose contract is imported',
      'test/server/meetings/booking-paid.test.ts',
      'server/domains/payments/paid-chat',
    ],
    ['a domain whose route is called', 'test/hostile/http-conformance.test.ts', 'server/domains/people/passkeys'],
    [
      'what every server is given by a registry',
      'test/server/platform/installation.test.ts',
      'server/domains/media/uploads',
    ],
    ['what that domain imports', 'test/server/meetings/booking-paid.test.ts', 'server/domains/meetings/scheduling'],
    ['a document that the test reads', 'test/server/platform/rest-page.test.ts', 'docs/rest.md'],
    ['the page, for tests in a browser', 'test/browser/polls.test.ts', 'client'],
    ['the exact versions of packages', 'test/store/conformance.test.ts', 'package-lock.json'],
  ])('hold %s', (_, file, folder) => {
    expect(foldersOf(file)).toContain(folder)
  })

  test('do not hold the domains that it does not use', () => {
    expect(foldersOf('test/server/rooms/polls.test.ts')).not.toContain('server/domains/streams/streams')
    expect(foldersOf('test/store/conformance.test.ts').filter((path) => path.startsWith('server/domains'))).toEqual([])
  })
})

test.each(['test/vectors', 'test/laws/verified.test.ts', '.ci'])('the hash of %s is that of git', (path) => {
  const isChanged = execFileSync('git', ['status', '--porcelain', '--', path], { encoding: 'utf8' }) !== ''
  expect(hashOf(path) === committed(path)).toBe(!isChanged)
})

/** Written another way than `foldersOf`, so that neither hides a fault of the other. */
function importsOf(code: string): string[] {
  const named = [...code.matchAll(/(?:from|import) ?\(?'#((?:server|shared|client|test)\/[^']+)'/g)]
  return named.map(([, path]) => `${path}.ts`)
}
const registries = ['server/domains/index.ts', 'shared/api/index.ts']
const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

function never(): never {
  throw new Error('There is no such part')
}
