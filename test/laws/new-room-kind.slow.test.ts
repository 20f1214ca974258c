import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createScratch } from '#test/mutations/scratch'
import { root } from './sources.ts'

const scratch = createScratch()
afterAll(() => scratch.remove())

/** Puts the kind before the last one of the list. */
function add(file: string, entry: string): void {
  const path = join(scratch.directory, file)
  writeFileSync(path, readFileSync(path, 'utf8').replace('  stream: ', `  assembly: ${entry},\n  stream: `))
}

/** The files in which the compiler finds a fault. */
function faulty(): string[] {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit', '--pretty', 'false'], {
    cwd: scratch.directory,
    encoding: 'utf8',
  })
  return [...new Set([...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file = '']) => file))]
}

test('a new kind of room is one entry for both sides and one for the server, which does not compile without it', () => {
  add('shared/kit/room-kinds.ts', "{ ...open, joining: 'invited' }")
  expect(faulty()).toEqual(['server/domains/rooms/kinds.ts'])
  add('server/domains/rooms/kinds.ts', "{ ...open, readers: 'members' }")
  expect(faulty()).toEqual([])
})
