// Modes: embedded
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '#client/sdk/types'
import { messages } from '#shared/api/rooms/messages'
import { dmOf } from '#shared/kit/primitives'
import { clientOf, conversationOf, shows } from '#test/support/direct-clients'
import { heavy } from '#test/support/heavy'
import { loggerInto } from '#test/support/logged'
import { personAt } from '#test/support/people'
import { filesUnder, storedText } from '#test/support/stored-text'
import { type ChangedServer, openChangedServer } from './changed-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'plaza-secrets-'))
const logged: string[] = []
let server: ChangedServer
const clients: Client[] = []
beforeAll(async () => {
  server = await openChangedServer({ DATA_DIR: folder }, (platform) => ({
    ...platform,
    logger: loggerInto(logged),
  }))
})
afterAll(async () => {
  for (const client of clients) client.close()
  await server.close()
  rmSync(folder, { recursive: true })
})

const [said, quoted, edited] = ['the plum tree behind the mill', 'under the third stone', 'beside the fourth stone']

test(
  'T81: neither text nor key of a direct message is in the store, the log of the server or a frame',
  heavy,
  async () => {
    const [one, two] = await Promise.all([clientOf(server, 'keeper'), clientOf(server, 'confidant')])
    clients.push(one, two)
    const [hers, his] = [conversationOf(one, two), conversationOf(two, one)]
    const watcher = await personAt(server.url, 'keeper')
    const line = await watcher.line()
    await watcher.does(line, messages.join, { room: dmOf(one.account, two.account) })
    hers.send({ text: said })
    await shows(his, said)
    his.send({ text: quoted, reply_to: his.state.messages[0]?.id ?? null })
    await shows(hers, said, quoted)
    await his.edit(his.state.messages[1]?.id ?? '', edited)
    await shows(hers, said, edited)
    const { epochId, key } = await hers.conversationKey()
    const { key: same } = await his.conversationKey(epochId)
    expect(Buffer.from(same).equals(Buffer.from(key))).toBe(true)

    const secrets = [said, quoted, edited].flatMap((text) => [text, Buffer.from(text).toString('base64').slice(0, -4)])
    const keys = [
      Buffer.from(key).toString('hex'),
      Buffer.from(key).toString('base64').slice(0, 42),
      Buffer.from(key).toString('base64url').slice(0, 42),
    ]
    const store = await storedText()
    expect(store).toContain(epochId)
    for (const [place, text] of [
      ['store', store],
      ['log', logged.join('\n')],
      ['frames', JSON.stringify(line.frames)],
    ] as const)
      for (const secret of [...secrets, ...keys])
        expect([place, secret, text.includes(secret)]).toEqual([place, secret, false])
    for (const file of filesUnder(folder))
      for (const secret of [said, quoted, edited, Buffer.from(key)])
        expect([file, readFileSync(file).includes(secret)]).toEqual([file, false])
  },
)
