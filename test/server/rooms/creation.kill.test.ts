import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { build } from '#test/support/programs'
import { started } from '#test/support/started'
import { call, signIn, wallet } from '#test/support/wallet'

const people = ['kill ada', 'kill bob', 'kill cleo']
const tokens = new Map<string, string>()
const ada = () => tokens.get('kill ada')
const root = mkdtempSync(join(tmpdir(), 'plaza-creation-'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(root, { recursive: true, force: true })
})

/** Where everybody has signed in, so that the appends that follow are those of the creation. */
const signedIn = join(root, 'signed in')
beforeAll(async () => {
  build()
  const { url, process } = await start(signedIn)
  for (const name of people) tokens.set(name, (await signIn(url, wallet(name))).sessionToken)
  const toAddress = wallet('kill bob').address
  const asked = await call(url, 'POST /api/friends/request', { toAddress }, ada())
  await call(url, 'POST /api/friends/accept', { requestId: asked.body.id }, tokens.get('kill bob'))
  await stop(process, 'SIGTERM')
})

const places = ['before-append', 'after-append', 'before-ack'] as const
const passes = [1, 2, 3]
const input = { name: 'Whole', memberAddresses: ['kill bob', 'kill cleo'].map((name) => wallet(name).address) }
const key = { 'idempotency-key': 'the-same-key' }

test.each(places)(
  'M48: a server that dies at %s, in whatever part of a creation, leaves nothing half',
  async (place) => {
    for (const pass of passes) {
      const directory = join(root, `${place} ${pass}`)
      cpSync(signedIn, directory, { recursive: true })
      const dying = await start(directory, { FAILPOINT: `${place}:${pass}` })
      const died = once(dying.process, 'exit')
      const asked = call(dying.url, 'POST /api/groups', input, ada(), key).catch(() => null)
      await Promise.race([died, asked])
      dying.process.kill('SIGKILL')
      await died

      const after = await start(directory)
      const groups = async (name: string) => {
        const { body } = await call(after.url, 'GET /api/user/rooms?limit=100', null, tokens.get(name))
        return (body.rooms as { id: string; type: string }[]).filter(({ type }) => type === 'group').map(({ id }) => id)
      }
      // Whatever was begun is whole without another word of the one who asked.
      const [begun, ...more] = await groups('kill ada')
      expect(more).toEqual([])
      const again = await call(after.url, 'POST /api/groups', input, ada(), key)
      expect(again.status).toBe(200)
      const { id } = again.body.group as { id: string }
      if (begun) expect(id).toBe(begun)
      for (const name of ['kill ada', 'kill bob'])
        expect([place, pass, await groups(name)]).toEqual([place, pass, [id]])
      const { body } = await call(after.url, 'GET /api/groups/invitations', null, tokens.get('kill cleo'))
      expect([place, pass, body.invitations]).toEqual([place, pass, [expect.objectContaining({ group_id: id })]])
      expect((await call(after.url, `PATCH /api/rooms/group/${id}`, { name: 'Renamed' }, ada())).status).toBe(200)
      await stop(after.process)
    }
  },
)

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

async function start(directory: string, more = {}): ReturnType<typeof started> {
  const server = await started({ DATA_DIR: directory, RATE_LIMIT_SCALE: '1000', ...more })
  children.push(server.process)
  return server
}
