import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './files.ts'
import { type ProjectName, projectNames, projectOf } from './projects.ts'

/** The files of each project that `npm test` runs every time: those named, or all without those after `but`. */
export const first: Readonly<Record<ProjectName, readonly string[] | { but: readonly string[] }>> = {
  laws: { but: [] },
  // A client for Python takes half a minute to generate.
  merge: { but: ['test/laws/merge/clients.test.ts'] },
  unit: { but: [] },
  jsx: { but: [] },
  faults: { but: [] },
  embedded: { but: [] },
  hostile: { but: ['test/hostile/search.test.ts'] },
  'hostile-wide': [],
  simulation: { but: [] },
  'simulation-wide': [],
  store: {
    but: [
      'test/store/backup-damage.test.ts',
      'test/store/broken-directories.test.ts',
      'test/store/conformance.test.ts',
      'test/store/journal-damage.test.ts',
    ],
  },
  mongodb: [],
  // One file a mechanism: live events, sessions.
  'two-nodes': ['test/server/rooms/live.test.ts', 'test/server/people/sessions.test.ts'],
  // The log, jobs, runs, streams, seats, webhooks, invitations.
  'two-nodes-redis': [
    'test/server/rooms/invitations.test.ts',
    'test/server/platform/jobs.test.ts',
    'test/server/meetings/meeting-seats.test.ts',
    'test/server/rooms/messages.test.ts',
    'test/server/agents/runs.test.ts',
    'test/server/streams/streams.test.ts',
    'test/server/platform/webhooks.test.ts',
  ],
  nodes: ['test/nodes/crowd.test.ts'],
  redis: ['test/redis/limits.test.ts', 'test/redis/outage.test.ts'],
  kill: ['test/store/embedded.kill.test.ts'],
  slow: [],
  // The first minute, rooms, writing, moderation, agents, payments, calls, streams, profiles, weight, axe, focus.
  browser: [
    'test/browser/agent-answers.test.ts',
    'test/browser/axe.test.ts',
    'test/browser/booking.test.ts',
    'test/browser/first-minute.test.ts',
    'test/browser/focus.test.ts',
    'test/browser/identity.test.ts',
    'test/browser/moderation.test.ts',
    'test/browser/profiles.test.ts',
    'test/browser/room-list.test.ts',
    'test/browser/streams.test.ts',
    'test/browser/timeline.test.ts',
    'test/browser/weight.test.ts',
  ],
}

/** Whether `npm test` runs this file of a project every time. */
export function isFirst(project: ProjectName, file: string): boolean {
  const files = first[project]
  return 'but' in files ? !files.but.includes(file) : files.includes(file)
}

/** A file of a project, or its heavy tests alone; `npm test` runs it where something that it depends on has changed. */
export interface Part {
  project: ProjectName
  file: string
  tags: 'heavy' | 'all'
}
export const nameOf = ({ project, file, tags }: { project: string; file: string; tags: string }): string =>
  `${project} ${file}${tags === 'heavy' ? ' heavy' : ''}`

/** Whole servers while parts of them fail: a program, which `test/suite/main.ts` runs. */
export const faultRun: Part = { project: 'faults', file: 'test/faults/run.ts', tags: 'all' }

/** What `npm run test:all` runs. */
export const parts = (): Part[] => [
  ...projectNames.flatMap((project) =>
    projectOf(project).files.flatMap((file): Part[] => {
      if (!isFirst(project, file)) return [{ project, file, tags: 'all' }]
      return hasHeavy(file) ? [{ project, file, tags: 'heavy' }] : []
    }),
  ),
  faultRun,
]

export const hasHeavy = (file: string) => readFileSync(join(root, file), 'utf8').includes("'#test/support/heavy'")
