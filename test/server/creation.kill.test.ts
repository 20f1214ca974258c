import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { build, programs } from '#test/support/programs'
import { call, signIn, wallet } from '#test/support/wallet'

beforeAll(build)

const places = ['before-append', 'after-append', 'before-ack'] as const
const passes = [1, 2, 3]
const input = { name: 'Whole', memberAddresses: ['kill bob', 'kill cleo'].map((name) => wallet(name).address) }
const key = { 'idempotency-key': 'the-same-key' }

test.each(places)(
  'M48: a server that dies at %s, in whatever part of a creation, leaves nothing half',
  async (place) => {
    for (const pass of passes) {
      const directory = mkdtempSync(join(tmpdir(), 'plaza-creation-'))
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
      // Everybody signs in first, so that the appends that follow are those of the creation.
      const before = await start(directory)
      for (const name of ['kill ada', 'kill bob', 'kill cleo']) await signIn(before.url, wallet(name))
      const { sessionToken: token } = await signIn(before.url, wallet('kill ada'))
      await stop(before.process)

      const dying = await start(directory, { FAILPOINT: `${place}:${pass}` })
      const died = once(dying.process, 'exit')
      const asked = call(dying.url, 'POST /api/groups', input, token, key).catch(() => null)
      await Promise.race([died, asked])
      dying.process.kill('SIGKILL')
      await died

      const after = await start(directory)
      const groups = async (name: string) => {
        const one = name === 'kill ada' ? token : (await signIn(after.url, wallet(name))).sessionToken
        const { body } = await call(after.url, 'GET /api/user/rooms?limit=100', null, one)
        return (body.rooms as { id: string; type: string }[]).filter(({ type }) => type === 'group').map(({ id }) => id)
      }
      // Whatever was begun is whole without another word of the one who asked.
      const [begun, ...more] = await groups('kill ada')
      expect(more).toEqual([])
      const again = await call(after.url, 'POST /api/groups', input, token, key)
      expect(again.status).toBe(200)
      const { id } = again.body.group as { id: string }
      if (begun) expect(id).toBe(begun)
      for (const name of ['kill ada', 'kill bob', 'kill cleo'])
        expect([place, pass, await groups(name)]).toEqual([place, pass, [id]])
      expect((await call(after.url, `PATCH /api/rooms/group/${id}`, { name: 'Renamed' }, token)).status).toBe(200)
      await stop(after.process)
    }
  },
)

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function start(directory: string, more = {}): Promise<{ url: string; process: ChildProcess }> {
  const environment = { PORT: '0', OPS_PORT: '0', DATA_DIR: directory, DEMO: 'off', LOG_LEVEL: 'silent' }
  const child = spawn(process.execPath, [programs.main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment, RATE_LIMIT_SCALE: '1000', ...more },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk
      const open = /Plaza is open: (\S+)/.exec(said)?.[1]
      if (open) resolve(open)
    })
    child.once('exit', () => reject(new Error(`The server did not start: ${said}`)))
  })
  return { url, process: child }
}
