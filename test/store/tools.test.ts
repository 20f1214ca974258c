import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { backUp, restore, verifyBackup } from '#server/ports/database/copies/index'
import { askStore, openEmbedded } from '#server/ports/database/embedded'
import { lockDirectory } from '#server/ports/database/embedded/lock'
import { build, programs } from '#test/support/programs'

const ROWS = 3000
const holder = new URL('./holder.ts', import.meta.url).pathname

beforeAll(build, 180_000)

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-tools-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function filled(directory: string) {
  const store = await openEmbedded(directory)
  onTestFinished(() => store.close())
  const rows = Array.from({ length: ROWS }, (_, at) => ({ _id: `m${at}`, at: new Date(at), text: 'x'.repeat(1000) }))
  await store.db().collection('messages').insertMany(rows)
  return store
}

/** A process that holds the directory. */
async function hold(directory: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', holder, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

async function plaza(options: readonly string[], directory: string) {
  const { MONGODB_URI: _, ...inherited } = process.env
  const child = spawn(process.execPath, [programs.cli, ...options], { env: { ...inherited, DATA_DIR: directory } })
  const [told, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, told, complaint }
}

describe('M30: a tool asks the process that holds the directory', { timeout: 120_000 }, () => {
  test('and does not open the directory itself, however many tools run at once', async () => {
    const directory = await freshDirectory()
    const store = await filled(directory)
    const wanted = { documents: { messages: expect.objectContaining({ count: ROWS }) }, files: null }
    const files = ['one', 'two', 'three'].map((name) => join(directory, 'backups', name))
    expect(await Promise.all(files.map((file) => backUp(directory, file)))).toEqual([wanted, wanted, wanted])
    const file = join(directory, 'four')
    expect(await plaza(['backup', file], directory)).toMatchObject({ code: 0 })
    expect(await restore(file, join(directory, 'restored'))).toEqual(await verifyBackup(file))
    expect((await verifyBackup(file)).documents).toEqual((await verifyBackup(files[0] ?? '')).documents)
    expect(await store.db().collection('messages').countDocuments({})).toBe(ROWS)
  })

  test('at a socket that only its user can open, and that is removed with the process', async () => {
    const directory = await freshDirectory()
    const store = await filled(directory)
    const socket = await stat(join(directory, 'tools.sock'))
    expect([socket.isSocket(), socket.mode & 0o777]).toEqual([true, 0o600])
    await store.close()
    expect(await readdir(directory)).toEqual(['data.mdb', 'lock.mdb'])
  })

  test('in a directory whose path is too long for a socket', async () => {
    const directory = join(await freshDirectory(), 'd'.repeat(120), 'e'.repeat(120))
    await mkdir(directory, { recursive: true })
    await filled(directory)
    expect(await backUp(directory, join(directory, 'backup'))).toMatchObject({
      documents: { messages: { count: ROWS } },
    })
  })

  test('and gets a snapshot of one moment while others write', async () => {
    const directory = await freshDirectory()
    const store = await filled(directory)
    const messages = store.db().collection('messages')
    const lines = askStore(directory, 'backup')
    await lines.next()
    await messages.insertOne({ _id: 'later' })
    await messages.deleteMany({ _id: { $in: ['m1', 'm2', `m${ROWS - 1}`] } })
    let told = ''
    for await (const line of lines) told += line
    expect(told.split('\n').filter((line) => line.includes('"_id"') && !line.startsWith('#{"c'))).toHaveLength(ROWS)
    expect(told).not.toContain('later')
  })

  test('that was killed and left its socket: the tool opens the directory itself', async () => {
    const directory = await freshDirectory()
    await (await filled(directory)).close()
    const child = await hold(directory)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await readdir(directory)).toContain('tools.sock')
    expect(await backUp(directory, join(directory, 'backup'))).toMatchObject({
      documents: { messages: { count: ROWS } },
    })
    await (await openEmbedded(directory)).close()
  })

  test('that exits during the request: the tool reports it and leaves no file', async () => {
    const directory = await freshDirectory()
    await (await filled(directory)).close()
    const child = await hold(directory)
    const lines = askStore(directory, 'backup')
    await lines.next()
    child.kill('SIGKILL')
    const rest = async () => {
      for await (const _ of lines);
    }
    await expect(rest()).rejects.toThrow('ended before it had answered: run this again.')

    const lock = await lockDirectory(directory)
    onTestFinished(() => lock.release())
    await rm(join(directory, 'tools.sock'), { force: true })
    const server = createServer((socket) => socket.once('data', () => socket.end('#{"plaza":"backup"}\n')))
    server.listen(join(directory, 'tools.sock'))
    onTestFinished(() => void server.close())
    const elsewhere = await freshDirectory()
    const { code, complaint } = await plaza(['backup', join(elsewhere, 'backup')], directory)
    expect(code).toBe(1)
    expect(complaint).toContain('ended before it had answered: run this again.')
    expect(await readdir(elsewhere)).toEqual([])
  })

  test('which is not blocked by clients that hang, die or send garbage', async () => {
    const directory = await freshDirectory()
    const store = await filled(directory)
    const clients = Array.from({ length: 20 }, () => connect(join(directory, 'tools.sock')))
    for (const client of clients) client.on('error', () => undefined)
    await Promise.all(clients.map((client) => once(client, 'connect')))
    for (const [at, client] of clients.entries()) {
      if (at % 4 === 0) client.write('backup\n')
      if (at % 4 === 1) client.write('backup\n', () => client.destroy())
      if (at % 4 === 2) client.write('x'.repeat(100_000))
    }
    await expect(async () => {
      for await (const _ of askStore(directory, 'nonsense'));
    }).rejects.toThrow('does not know the question nonsense')
    expect(await backUp(directory, join(directory, 'backup'))).toMatchObject({
      documents: { messages: { count: ROWS } },
    })
    await store.db().collection('messages').insertOne({ _id: 'later' })
    const asked = Date.now()
    await store.close()
    expect(Date.now() - asked).toBeLessThan(5000)
  })

  test('or locks the directory before it opens it, if no process holds it', async () => {
    const directory = await freshDirectory()
    await (await filled(directory)).close()
    const lines = askStore(directory, 'backup')
    await lines.next()
    const other = openEmbedded(directory)
    let isOpen = false
    void other.then(() => {
      isOpen = true
    })
    expect(await readdir(directory)).toContain('lock')
    for await (const _ of lines) expect(isOpen).toBe(false)
    await (await other).close()
  })
})
