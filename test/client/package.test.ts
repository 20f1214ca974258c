import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { heavy } from '#test/support/heavy'
import { TinyServer } from './tiny-server.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'plaza-sdk-'))
const installed = join(folder, 'node_modules/plaza-sdk')

beforeAll(async () => {
  const { stdout } = await run(process.execPath, [join(root, 'scripts/pack-sdk.mjs'), join(folder, 'packed')])
  const tarball = stdout.trim().split('\n').at(-1) ?? ''
  mkdirSync(installed, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
}, 180_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the published client', () => {
  test('talks to a server from Node, with nothing else installed', heavy, async () => {
    const server = new TinyServer()
    await server.start()
    server.say('ada', 'hello')
    const script = `
      import { AppError, createClient, events, memoryStorage } from 'plaza-sdk'
      const client = createClient({ url: process.argv[2], token: 'bob', storage: memoryStorage() })
      const room = client.room({ type: 'channel', id: 'plaza' })
      room.send({ text: 'here I am' })
      room.subscribe(() => {
        const { status, messages } = room.state
        if (status !== 'live' || messages.some(({ local }) => local !== 'sent')) return
        console.log(JSON.stringify([messages.map(({ content }) => content), events.roomEvent, AppError.name]))
        client.close()
      })`
    writeFileSync(join(folder, 'talk.mjs'), script)
    try {
      const { stdout } = await run(process.execPath, ['talk.mjs', server.url], { cwd: folder, timeout: 15_000 })
      const [texts, event] = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as [string[], object]
      expect(texts).toEqual(['hello', 'here I am'])
      expect(event).toEqual({ namespace: '/rooms', name: 'room:event' })
    } finally {
      await server.stop()
    }
  })

  test('is small, and contains no schemas', () => {
    const browser = readFileSync(join(installed, 'browser.js'))
    expect(gzipSync(browser).length).toBeLessThan(48_000)
    expect(browser.includes('ZodError')).toBe(false)
  })

  test('N89: contains the types of every operation, event and room, and says how it is used', {
    ...heavy,
    timeout: 60_000,
  }, async () => {
    symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'))
    const script = `
      import { type Client, createClient, events, type RoomState } from 'plaza-sdk'
      const client: Client = createClient({ url: 'http://localhost' })
      const members: Promise<{ members: { user_address: string }[] }> = client.rooms.members({ room: { type: 'alpha' } })
      client.on(events.unreadChanged, ({ total }) => total.toFixed())
      const state: RoomState = client.room({ type: 'alpha', id: null }).state
      // @ts-expect-error: a room has a type
      void client.rooms.get({ room: { id: 'x' } })
      export const all = [members, state.messages[0]?.content.trim()]`
    writeFileSync(join(folder, 'typed.ts'), script)
    const [, shown = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(installed, 'README.md'), 'utf8')) ?? []
    expect(shown).toContain("from 'plaza-sdk'")
    writeFileSync(join(folder, 'readme.mts'), `declare const token: string\ndeclare const id: string\n${shown}`)
    const compilerOptions = {
      ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2023', types: [] },
      ...{ lib: ['es2024', 'dom'], skipLibCheck: false },
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts', 'readme.mts'] }))
    const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
      (error: { stdout: string }) => error,
    )
    expect(stdout).toBe('')
  })
})
