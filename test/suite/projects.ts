import { readFileSync } from 'node:fs'
import { filesIn } from '../support/modes.ts'
import { testFiles } from './files.ts'

/** Test files that share a store and variables; each is a project of `vitest.config.ts`. */
export interface Project {
  /** Paths from the root. */
  files: readonly string[]
  env?: Readonly<Record<string, string>>
  /** The services that its files need; each run starts those that its files need. */
  needs?: readonly Need[]
  /** Each file has a process of its own; elsewhere files follow one another in one, as loading the server costs more than most. */
  isolate?: boolean
  /** Files that import JSX, which Node cannot load by itself. */
  hasJsx?: boolean
  /** A test may take minutes. */
  isLong?: boolean
  /** What a kilobyte of its tests costs beside one of `embedded`, as measured; the time left is guessed from it. */
  weight?: number
}
export type Need = 'mongodb' | 'redis' | 'chromium' | 'anvil' | 'python client'

const long = /\.(kill|slow)\.test\.ts$/
const inFolders = (...folders: readonly string[]) =>
  testFiles().filter((path) => !long.test(path) && folders.some((folder) => path.startsWith(`test/${folder}/`)))
const endingIn = (ending: string) => testFiles().filter((path) => path.endsWith(ending))
const importsJsx = (path: string) => /from '.*\.tsx'/.test(readFileSync(path, 'utf8'))

const pure = inFolders('unit', 'ports', 'log', 'shared', 'client', 'media')
const laws = inFolders('laws')
const twoNodes = { PLAZA_TEST_STORE: 'mongodb', PLAZA_TEST_NODES: '2' }

/** In the order in which they are run: short files come last, so that all workers end together. */
export const projects = {
  embedded: { files: filesIn('embedded', 'test/server'), env: { PLAZA_TEST_STORE: 'embedded' } },
  hostile: { files: inFolders('hostile'), env: { HOSTILE_VALUES_PER_FIELD: '1' }, weight: 2 },
  'hostile-wide': { files: ['test/hostile/bad-input.test.ts'], env: { HOSTILE_VALUES_PER_FIELD: '3' }, weight: 20 },
  mongodb: { files: filesIn('mongodb', 'test/hostile'), env: { PLAZA_TEST_STORE: 'mongodb' }, needs: ['mongodb'] },
  'two-nodes': { files: filesIn('two-nodes', 'test/server'), env: twoNodes, needs: ['mongodb'], weight: 3 },
  'two-nodes-redis': {
    files: filesIn('two-nodes-redis', 'test/server'),
    env: { ...twoNodes, PLAZA_TEST_REDIS: 'shared' },
    needs: ['mongodb', 'redis'],
    weight: 3,
  },
  redis: { files: inFolders('redis'), env: twoNodes, needs: ['mongodb', 'redis'], weight: 5 },
  nodes: { files: inFolders('nodes'), env: { PLAZA_TEST_STORE: 'mongodb' }, needs: ['mongodb'], weight: 10 },
  kill: { files: endingIn('.kill.test.ts'), needs: ['mongodb'], isolate: true, isLong: true, weight: 60 },
  slow: { files: endingIn('.slow.test.ts'), needs: ['mongodb'], isolate: true, isLong: true, weight: 60 },
  browser: { files: inFolders('browser'), needs: ['chromium'], isLong: true, weight: 8 },
  simulation: { files: inFolders('simulation'), env: { SIMULATION_SEEDS: '20' }, isolate: true, weight: 15 },
  'simulation-wide': {
    files: ['test/simulation/simulation.test.ts'],
    env: { SIMULATION_SEEDS: '80' },
    isolate: true,
    weight: 100,
  },
  store: { files: inFolders('store'), needs: ['mongodb'], weight: 3 },
  laws: { files: laws.filter((path) => !path.includes('/merge/')) },
  merge: { files: laws.filter((path) => path.includes('/merge/')) },
  jsx: { files: pure.filter(importsJsx), hasJsx: true },
  faults: { files: inFolders('faults'), isolate: true },
  unit: { files: pure.filter((path) => !importsJsx(path)) },
} as const satisfies Record<string, Project>

export type ProjectName = keyof typeof projects
export const projectNames = Object.keys(projects) as readonly ProjectName[]
export const projectOf = (name: ProjectName): Project => projects[name]
