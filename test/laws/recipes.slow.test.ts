import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratch, type Scratch } from '#test/mutations/scratch'

/** What somebody writes into a file, before a line that is in it once. */
interface Place {
  file: string
  before: string
  write: string
}

/** How CONTRIBUTING says something is added: declared first, then what the compiler asks for. */
interface Recipe {
  declared: Place
  /** The files in which the compiler then misses something. */
  missing: readonly string[]
  follows: readonly Place[]
}

const recipes: Record<string, Recipe> = {
  'an operation': {
    declared: {
      file: 'shared/api/accounts.ts',
      before: '  checkUsername: operation({',
      write: `  recipeOperation: operation({
        summary: 'How many usernames are taken.', http: 'GET /api/recipe-operation', access: 'public', limit: 'general',
        input: z.object({}), output: z.object({ count: z.number().int() }),
      }),`,
    },
    missing: ['server/domains/accounts/index.ts'],
    follows: [
      {
        file: 'server/domains/accounts/index.ts',
        before: '  async checkUsername({ username }) {',
        write: 'recipeOperation: () => ({ count: 0 }),',
      },
    ],
  },
  'a domain': {
    declared: { file: 'shared/api/index.ts', before: '  status,\n  identity,', write: "  'recipe-domain': status," },
    missing: ['server/domains/index.ts'],
    follows: [
      { file: 'server/domains/index.ts', before: '  status,\n  identity,', write: "  'recipe-domain': status," },
    ],
  },
  'a room event': {
    declared: {
      file: 'shared/api/room-events.ts',
      before: "  'message.unpinned': declared(",
      write: `'message.recipe_event': declared('A message was starred.', z.object({ id: z.string() })),`,
    },
    missing: ['client/sdk/timeline.ts', 'server/domains/events.ts'],
    follows: [
      { file: 'client/sdk/timeline.ts', before: "  'words.updated': null,", write: "'message.recipe_event': null," },
      {
        file: 'server/domains/rooms/events/messages.ts',
        before: '/** The message as it is after the edit. */',
        write: `export const messageRecipeEvent = defineEvent('message.recipe_event', {
          body: z.object({ id: z.string() }), changes: () => [], data: (_row, { id }) => ({ id }),
        })`,
      },
    ],
  },
  'a kind of room': {
    declared: {
      file: 'shared/kit/room-kinds.ts',
      before: '  stream: { ...open',
      write: `'recipe-kind': { ...open, joining: 'invited' },`,
    },
    missing: ['server/domains/rooms/kinds.ts'],
    follows: [
      {
        file: 'server/domains/rooms/kinds.ts',
        before: '  stream: open,',
        write: "'recipe-kind': { ...open, readers: 'members' },",
      },
    ],
  },
}

let scratch: Scratch
beforeAll(() => {
  scratch = createScratch()
  const path = join(scratch.directory, 'tsconfig.json')
  const settings = JSON.parse(readFileSync(path, 'utf8')) as object
  writeFileSync(path, JSON.stringify({ ...settings, include: ['server', 'client', 'shared'] }))
})
afterAll(() => scratch.remove())

function put({ file, before, write }: Place): void {
  const path = join(scratch.directory, file)
  const parts = readFileSync(path, 'utf8').split(before)
  expect(parts, `${file}: ${before}`).toHaveLength(2)
  writeFileSync(path, parts.join(`${write}\n${before}`))
}

/** The files in which the compiler finds something wrong. */
function faulty(): string[] {
  const compiler = join(scratch.directory, 'node_modules/typescript/bin/tsc')
  try {
    execFileSync(process.execPath, [compiler, '--noEmit', '--pretty', 'false'], { cwd: scratch.directory })
    return []
  } catch (error) {
    const told = String((error as { stdout: Buffer }).stdout)
    return [...new Set([...told.matchAll(/^([\w./-]+\.tsx?)\(/gm)].map(([, file = '']) => file))].sort()
  }
}

describe('a recipe of CONTRIBUTING', () => {
  const all = Object.values(recipes)

  test('what is declared does not compile until the places that must know of it do', () => {
    for (const { declared } of all) put(declared)
    expect(faulty()).toEqual(all.flatMap(({ missing }) => missing).sort())
  })

  test('compiles with what it names, and touches no other file', () => {
    for (const { follows } of all) for (const place of follows) put(place)
    expect(faulty()).toEqual([])
  })
})
