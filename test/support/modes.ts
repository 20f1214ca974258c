import { readdirSync, readFileSync } from 'node:fs'

/** What serves the tests of a file: each is a project of `vitest.config.ts`. */
export const modes = ['embedded', 'mongodb', 'two-nodes', 'two-nodes-redis'] as const
export type Mode = (typeof modes)[number]

const folders = ['test/server', 'test/hostile']

/** What the first line of a file names, as in `// Modes: embedded, two-nodes-redis`. */
export function modesIn(code: string): readonly string[] {
  const [, named] = /^\/\/ Modes: ([\w, -]+)\n/.exec(code) ?? []
  return named?.split(', ') ?? []
}

/** The files whose first line names their modes; those that end servers, or take long, have projects of their own. */
export function filesWithModes(): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !/\.(kill|slow)\./.test(name))
      .map((name) => `${folder}/${name}`),
  )
}

/** The files that run in a mode. */
export function filesIn(mode: Mode, folder: string): string[] {
  return filesWithModes().filter(
    (path) => path.startsWith(`${folder}/`) && modesIn(readFileSync(path, 'utf8')).includes(mode),
  )
}
