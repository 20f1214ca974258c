import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createScratch, type Scratch } from '#test/support/scratch'

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
      file: 'shared/api/people/accounts.ts',
      before: '  checkUsername: operation({',
      write: `  recipeOperation: operation({
        summary: 'How many usernames are taken.', http: 'GET /api/recipe-operation', access: 'public', limit: 'general', cost: 'cheap',
        input: z.object({}), output: z.object({ count: z.number().int() }),
      }),`,
    },
    missing: ['server/domains/people/accounts/index.ts'],
    follows: [
      {
        file: 'server/domains/people/accounts/index.ts',
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
  'a setting': {
    declared: {
      file: 'server/domains/rooms/rooms/settings.ts',
      before: '    PARTNER_CHANNEL: nameOrId',
      write: "RECIPE_SETTING: nameOrId.default('one'),",
    },
    // The law of the configuration asks for the rest.
    missing: [],
    follows: [
      {
        file: 'server/domains/rooms/rooms/settings.ts',
        before: '    /** The id or slug of the channel',
        write: 'recipe: given.RECIPE_SETTING,',
      },
      {
        file: 'docs/configuration.md',
        before: '| `PARTNER_CHANNEL` |',
        write: '| `RECIPE_SETTING` | `one` | a setting of the recipe |',
      },
    ],
  },
  'a room event': {
    declared: {
      file: 'shared/api/rooms/room-events.ts',
      before: "  'message.unpinned': declared(",
      write: `'message.recipe_event': declared('A message was starred.', z.object({ id: z.string() })),`,
    },
    missing: ['client/sdk/timeline.ts', 'server/domains/events.ts'],
    follows: [
      { file: 'client/sdk/timeline.ts', before: "  'words.updated': null,", write: "'message.recipe_event': null," },
      {
        file: 'server/domains/rooms/room-state/events/messages.ts',
        before: '/** The message after the edit. */',
        write: `export const messageRecipeEvent = defineEvent('message.recipe_event', {
          body: z.object({ id: z.string() }), changes: () => [], data: (_row, { id }) => ({ id }),
        })`,
      },
    ],
  },
  'a gate': {
    declared: {
      file: 'shared/api/rooms/gates.ts',
      before: 'BalanceGate, AttendanceGate, PlaceGate])',
      write: "z.object({ by: z.literal('recipe'), least: z.number() }),",
    },
    missing: ['server/domains/gates.ts'],
    follows: [
      {
        file: 'server/domains/gates.ts',
        before: 'import { placeGate }',
        write: "import { defineGate } from './rooms/gates/define.ts'",
      },
      {
        file: 'server/domains/gates.ts',
        before: '  balance: balanceGate,',
        write: `recipe: defineGate('recipe', {
          lasts: () => false,
          check: async ({ gate: { least } }) => ({ passed: least === 0, text: 'A recipe', checked: [], details: {} }),
        }),`,
      },
      {
        file: 'server/domains/rooms/rooms/rooms.ts',
        before: "  const { name = '', description = null, emoji = '💬'",
        write: `if (input.name?.startsWith('Gated')) {
          const gate = { by: 'recipe', least: 1 } as const
          return foundRoom(context, 'channel', { name: input.name, emoji: '🚪', category: 'general', gate }, [])
        }`,
      },
    ],
  },
  'a kind of room': {
    declared: {
      file: 'shared/kit/room-kinds.ts',
      before: '  stream: {',
      write: "'recipe-kind': { ...open, readers: 'members', foundedBy: 'createRecipeRoom', writers: 'moderators' },",
    },
    missing: [
      'client/web/rooms/create-room.tsx',
      'server/domains/rooms/room-state/kinds.ts',
      'shared/api/rooms/rooms.ts',
    ],
    follows: [
      {
        file: 'server/domains/rooms/room-state/kinds.ts',
        before: '  stream: {',
        write: `'recipe-kind': {
          ...open,
          founded: { by: 'its founder', fields: { emoji: '🏛', category: 'general' } },
        },`,
      },
      {
        file: 'shared/api/rooms/rooms.ts',
        before: '  createGroup: operation({',
        write: `  createRecipeRoom: operation({
          summary: 'Create a room of the recipe.', http: 'POST /api/recipe-rooms', access: 'user', limit: 'general', cost: 'cheap',
          idempotency: onceByKey, input: z.object({ ...repeatable, name: Name }), output: RoomAnswer,
        }),`,
      },
      {
        file: 'server/domains/rooms/rooms/rooms.ts',
        before: 'export const createGroup: Action',
        write: `export const createRecipeRoom: Action<typeof contract.createRecipeRoom> = async ({ name }, context) => ({
          room: await roomAnswer(context.node, await foundRoom(context, 'recipe-kind', { name }, []), signedIn(context).account),
        })`,
      },
      {
        file: 'server/domains/rooms/rooms/index.ts',
        before: 'const actions: Actions<typeof contract> = {',
        write: "import { createRecipeRoom } from './rooms.ts'",
      },
      {
        file: 'server/domains/rooms/rooms/index.ts',
        before: '  createTokenRoom,\n  listTokenRooms,',
        write: 'createRecipeRoom,',
      },
      {
        file: 'client/web/rooms/create-room.tsx',
        before: '  createGroup: groupForm,',
        write: `createRecipeRoom: {
          ...channelForm, title: 'Recipe',
          found: async (client, name) => (await client.rooms.createRecipeRoom({ name })).room,
        },`,
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

  test('a variable that is not documented breaks the law of the configuration', () => {
    expect(run('laws', 'test/laws/configuration.test.ts')).toMatch(/- +"RECIPE_SETTING"/)
  })

  test('compiles with what it names, and touches no other file', () => {
    for (const { follows } of all) for (const place of follows) put(place)
    expect(faulty()).toEqual([])
    expect(run('laws', 'test/laws/configuration.test.ts')).toBe('passed')
  })

  test('makes a gate that keeps people out, and a kind of room that holds what its entries say, over both doors', () => {
    writeFileSync(join(scratch.directory, 'test/server/recipe-kind.test.ts'), kindTest)
    expect(run('embedded', 'test/server/recipe-kind.test.ts')).toBe('passed')
  })
})

/** What a test of the copy says: `passed`, or how it failed. */
function run(project: string, test: string): string {
  const program = join(scratch.directory, 'node_modules/vitest/vitest.mjs')
  const options = [program, 'run', '--project', project, test]
  try {
    execFileSync(process.execPath, options, {
      cwd: scratch.directory,
      stdio: 'pipe',
      env: { ...process.env, NO_COLOR: '1' },
    })
    return 'passed'
  } catch (error) {
    const { stdout, stderr } = error as Record<'stdout' | 'stderr', Buffer>
    return `${stdout}${stderr}`
  }
}

/** Nothing but the entries of the kind says that its moderators alone write and its members alone read. */
const kindTest = `
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { moderation } from '#shared/api/moderation/moderation'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { over, person } from '#test/support/people'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())

test.each(over)('over %s', async (door) => {
  const [owner, member, outsider] = await Promise.all(['o', 'm', 'x'].map((name) => person(server, name + door)))
  const { id } = (await owner.does('rest', rooms.createRecipeRoom, { name: 'Recipe ' + door })).room
  const room = { type: 'recipe-kind', id } as const
  await member.does('rest', rooms.join, { room })
  expect((await owner.does(door, messages.send, { room, text: 'one' })).verdict.ok).toBe(true)
  expect(await member.refused(door, messages.send, { room, text: 'two' })).toMatchObject({ code: 'READ_ONLY' })
  expect(await outsider.refused(door, messages.history, { room, limit: 10 })).toMatchObject({ code: 'NOT_A_MEMBER' })
  const { me, rules } = await member.does('socket', messages.join, { room })
  expect([me.capabilities.text, rules.read_only]).toEqual([{ ok: false, code: 'READ_ONLY' }, true])
  const asked = await member.does('rest', moderation.rules, { chatType: 'recipe-kind', chatId: id })
  expect(asked.rules.read_only).toBe(true)
  const opened = { room, action: 'rules', patch: { rules: { read_only: false } } } as const
  expect(await owner.refused(door, moderation.act, opened)).toMatchObject({ code: 'VALIDATION_ERROR' })
  const gated = (await owner.does('rest', rooms.createChannel, { name: 'Gated ' + door })).channel
  const at = { type: 'channel', id: gated.id } as const
  expect((await member.does(door, rooms.gate, { room: at })).gate).toEqual({ by: 'recipe', least: 1 })
  expect(await member.refused(door, rooms.join, { room: at })).toMatchObject({ code: 'GATE_NOT_PASSED' })
})
`
