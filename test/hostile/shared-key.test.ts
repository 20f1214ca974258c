// Modes: embedded
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '#client/sdk/types'
import { social } from '#shared/api/moderation/social'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { Booted } from '#test/support/boot'
import { clientOf, shows } from '#test/support/direct-clients'
import { loggerInto } from '#test/support/logged'
import { type Person, people } from '#test/support/people'
import { bootShared, script, sharedRoom } from '#test/support/shared-key'
import { filesUnder, storedText } from '#test/support/stored-text'
import { call } from '#test/support/wallet'

const folder = mkdtempSync(join(tmpdir(), 'plaza-shared-'))
const logged: string[] = []
let server: Booted
let [ada, bo, eve] = [] as unknown as [Person, Person, Person]
const clients: Client[] = []
beforeAll(async () => {
  server = await bootShared({
    nodes: 1,
    environment: { DATA_DIR: folder },
    change: (platform) => ({ ...platform, logger: loggerInto(logged) }),
  })
  ;[ada, bo, eve] = await people(server, 'ada hides', 'bo hides', 'eve hides')
})
afterAll(async () => {
  for (const client of clients) client.close()
  await server.close()
  rmSync(folder, { recursive: true })
})
const enter = async (name: string) => {
  const client = await clientOf(server, name, { keys: null })
  clients.push(client)
  return client
}

const [said, answered, edited] = ['the plum tree behind the mill', 'under the third stone', 'beside the fourth stone']

test('T11: neither the key of a room nor what it seals is in the store, the log, a frame, or an answer to who is no member', async () => {
  const { room, key } = await sharedRoom(ada, bo)
  const path = `/api/rooms/channel/${room.id}`
  const [line, outside] = await Promise.all([bo.line(), eve.line()])
  await bo.does(line, messages.join, { room })
  const [hers, his] = [(await enter('ada hides')).room(room), (await enter('bo hides')).room(room)]
  hers.send({ text: said })
  await shows(his, said)
  his.send({ text: answered, reply_to: his.state.messages[0]?.id ?? null })
  await shows(hers, said, answered)
  await his.edit(his.state.messages[1]?.id ?? '', edited)
  await shows(hers, said, edited)
  const messageId = his.state.messages[1]?.id ?? ''
  const report = {
    reportedAddress: bo.account,
    reportType: 'spam',
    messageId,
    messageContent: 'what I say it says',
  } as const
  await ada.does('rest', social.report, report)
  const { reports } = await ada.does('rest', social.reports, {})
  expect(JSON.stringify(reports)).toContain('what I say it says')

  const outsiders = await Promise.all([
    ...[
      `GET ${path}`,
      `GET ${path}/key`,
      `GET ${path}/messages`,
      `GET /api/channels/${room.id}`,
      'GET /api/channels',
    ].map((route) => eve.rest(route)),
    call(server.url, `GET ${path}/key`),
    eve.rest(`POST ${path}/join`, {}),
    ...[rooms.sharedKey, rooms.join, messages.join, messages.history].map((operation) =>
      eve.tries(outside, operation, { room } as never),
    ),
    bo.does('rest', inbox.list, {}),
  ])
  const keys = (['hex', 'base64', 'base64url'] as const).map((form) => key.toString(form).slice(0, 42))
  const texts = [said, answered, edited]
  const secrets = [...keys, ...texts, ...texts.map((text) => Buffer.from(text).toString('base64').slice(0, -4))]
  const store = await storedText()
  expect(store).toContain(messageId)
  for (const [place, text] of [
    ['store', store],
    ['log', logged.join('\n')],
    ['frames of a member', JSON.stringify(line.frames)],
    ['frames of somebody else', JSON.stringify(outside.frames)],
    ['answers to somebody else', JSON.stringify(outsiders)],
  ] as const)
    for (const secret of secrets) expect([place, secret, text.includes(secret)]).toEqual([place, secret, false])
  for (const file of filesUnder(folder))
    for (const secret of [...texts, ...keys, key])
      expect([file, readFileSync(file).includes(secret)]).toEqual([file, false])
})

test('T11: the answer that is kept for a repeat of the making of a room does not have its key in clear', async () => {
  const { key } = await sharedRoom(ada, bo)
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  script.mint(ada.account, 50)
  const made = await ada.rest('POST /api/channels', { attendanceEventId: 50 }, headers)
  const again = await ada.rest('POST /api/channels', { attendanceEventId: 50 }, headers)
  const { p2p_symmetric_key } = (made.body as { channel: { p2p_symmetric_key: string } }).channel
  expect((again.body as { channel: object }).channel).toMatchObject({ p2p_symmetric_key })
  const store = await storedText()
  for (const secret of [key.toString('base64'), p2p_symmetric_key]) expect(store.includes(secret)).toBe(false)
})
