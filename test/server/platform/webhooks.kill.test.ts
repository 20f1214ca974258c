import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { webhooks } from '#shared/api/platform/webhooks'
import { channelOf, personAt, say } from '#test/support/people'
import { inOneFile } from '#test/support/programs'
import { receiver } from '#test/support/receiver'
import { freshDatabase, started } from '#test/support/started'

let program: string
let came: Awaited<ReturnType<typeof receiver>>
const children: ChildProcess[] = []
beforeAll(async () => {
  program = await inOneFile('test/support/hooked-server.ts')
  came = await receiver()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await came.server.close()
})

test.each(['the embedded store', ...(process.env.MONGODB_URI ? ['MongoDB'] : [])])(
  'N90: a server killed with -9 while it sends a webhook loses no event, and keeps their order, on %s',
  async (store) => {
    const directory = mkdtempSync(join(tmpdir(), 'plaza-hooks-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const environment = {
      DATA_DIR: directory,
      HOOKS_PORT: String(came.server.port),
      ...(store === 'MongoDB' && { MONGODB_URI: freshDatabase() }),
    }
    const start = async () => {
      const server = await started(environment, program)
      children.push(server.process)
      return server
    }
    const first = await start()
    const owner = await personAt(first.url, `hooks: killed on ${store}`)
    const room = await channelOf(owner)
    const path = `/${store.replaceAll(' ', '-')}`
    await owner.does('rest', webhooks.create, { url: `https://hooks.test${path}`, rooms: [room] })
    came.answers.set(path, (response, { text }) => {
      // What asks for the third is never answered.
      if (!text.includes('three')) response.writeHead(204).end()
    })
    const texts = ['one', 'two', 'three', 'four', 'five']
    for (const text of texts) await say(owner, room, text)
    await expect.poll(() => came.textsAt(path), { timeout: 20_000 }).toEqual(['one', 'two', 'three'])
    first.process.kill('SIGKILL')
    await once(first.process, 'exit')
    came.answers.delete(path)
    await start()
    await expect.poll(() => came.textsAt(path), { timeout: 45_000 }).toEqual(['one', 'two', 'three', ...texts.slice(2)])
    const [, , before, after] = came.at(path)
    expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id'])
    expect(after?.text).toBe(before?.text)
  },
)
