// Modes: embedded
import { beforeAll, describe, expect, test } from 'vitest'
import { serviceTokens } from '#shared/api/people/service-tokens'
import { messages } from '#shared/api/rooms/messages'
import { dmOf, type RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { befriend, channelOf, groupOf, over, say, sealed } from '#test/support/people'
import { storeFileOn } from '#test/support/stored-files'
import { call } from '#test/support/wallet'

const { owner, mallory, root, server } = await bootWith(['owner', 'mallory', 'root'], { superAdmins: ['root'] })

const keyOf = (account: string, name: string) => `media/chat/${account.toLowerCase()}/${name}`
const bytes = () => new Uint8Array(40)
let channel: RoomRef & { id: string }
let group: RoomRef
let theirs: string
let own: string
beforeAll(async () => {
  await befriend(owner, mallory)
  channel = await channelOf(owner, mallory)
  group = await groupOf(owner, mallory)
  theirs = await storeFileOn(server, owner.account, keyOf(owner.account, 'a.pdf'), bytes())
  own = await storeFileOn(server, mallory.account, keyOf(mallory.account, 'a.pdf'), bytes())
  await say(owner, channel, 'Here', { attachments: [{ url: theirs, name: 'plan.pdf' }] })
})

const claims = { name: 'plan.txt', mime: 'text/plain', size: 12 }
const refusedEverywhere = async (url: string, room: RoomRef) => {
  const before = (await owner.does('rest', messages.history, { room })).messages.length
  for (const attachment of [{ url }, { url, ...claims }])
    for (const door of over) {
      const draft = { room, text: 'plan.txt', attachments: [attachment] } as never
      expect(await mallory.refused(door, messages.send, draft), url).toMatchObject({ status: 400 })
      const checked = await mallory.tries(door, messages.check, draft)
      expect(checked.ok && checked.data.verdict.ok, url).toBe(false)
    }
  expect((await owner.does('rest', messages.history, { room })).messages).toHaveLength(before)
}

describe('an attachment names an upload of its sender, and nothing else', () => {
  const at = (path: string) => new URL(path, own).href
  const hostOf = (url: string) => new URL(url).host
  const addresses: [string, () => string][] = [
    ['elsewhere', () => 'https://evil.example/x.exe'],
    ['that another has uploaded, and shown here', () => theirs],
    ['of another, by a way back', () => own.replace('a.pdf', `../${owner.account.toLowerCase()}/a.pdf`)],
    ['of another, by a way back in percent signs', () => own.replace('/a.pdf', `%2f..%2f${owner.account}%2fa.pdf`)],
    ['of its own that was never uploaded', () => own.replace('a.pdf', 'b.pdf')],
    ['of its own with a query', () => `${own}?download`],
    ['of its own with a fragment', () => `${own}#a.txt`],
    ['of its own behind another host', () => own.replace(hostOf(own), `${hostOf(own)}.evil.example`)],
    ['of its own behind a name', () => own.replace('://', '://evil.example@')],
    ['of its own without a scheme', () => own.replace(/^\w+:/, '')],
    ['of its own below another path', () => own.replace('/files/', '/files/../files/')],
    ['of an archive', () => at('/archives/x')],
    ['of a private blob', () => at(`/files/private/archives/${mallory.account}/x.zip`)],
    ['that runs', () => 'javascript:alert(1)//a.pdf'],
    ['with its data', () => 'data:text/html,<script>alert(1)</script>'],
    ['of a folder', () => own.replace('a.pdf', '')],
  ]
  test.each(addresses)('none with an address %s', async (_what, address) => {
    for (const room of [channel, group]) await refusedEverywhere(address(), room)
  })

  test('its own is taken over both doors, also by the path of channels', async () => {
    const attachments = [{ url: own, ...claims }]
    for (const door of over)
      expect(await mallory.does(door, messages.send, { room: channel, text: 'plan', attachments })).toMatchObject({
        message: { attachments },
      })
    const alias = await mallory.rest(`POST /api/channels/${channel.id}/messages`, { content: 'plan', attachments })
    expect(alias).toMatchObject({ status: 200 })
  })

  test('not behind one of its own, nor by the older path', async () => {
    const attachments = [{ url: own }, { url: theirs }]
    for (const door of over)
      expect(await mallory.refused(door, messages.send, { room: channel, text: 'two', attachments })).toMatchObject({
        code: 'INVALID_PARAMETER',
        verdict: { step: 'content_type' },
      })
    const alias = await mallory.rest(`POST /api/channels/${channel.id}/messages`, { content: 'two', attachments })
    expect(alias.body.code).toBe('INVALID_PARAMETER')
  })

  test('not beside the ciphertext of a direct message', async () => {
    const room = dmOf(owner.account, mallory.account)
    for (const url of [own, theirs, 'https://evil.example/x.exe'])
      for (const door of over)
        expect(
          await mallory.refused(door, messages.send, { room, text: sealed(), attachments: [{ url }] }),
        ).toMatchObject({ code: 'INVALID_PARAMETER' })
  })

  test('not by an edit, which is refused over both doors and by each path, and changes nothing', async () => {
    const refusal = { status: 400, code: 'VALIDATION_ERROR', message: expect.stringContaining('attachments') }
    const kept = [{ url: own, name: 'plan.pdf' }]
    const { message } = await mallory.does('rest', messages.send, { room: channel, text: 'see', attachments: kept })
    const { id } = message
    for (const attachments of [[{ url: theirs }], [{ url: own }], [], null, '']) {
      for (const door of over) {
        const change = { room: channel, id, text: 'seen', attachments } as never
        expect(await mallory.refused(door, messages.edit, change)).toMatchObject(refusal)
      }
      for (const path of [`/api/channels/${channel.id}/messages/${id}`, `/api/messages/${id}`])
        expect(await mallory.rest(`PATCH ${path}`, { content: 'seen', attachments })).toMatchObject({
          status: 400,
          body: { code: 'VALIDATION_ERROR', error: refusal.message },
        })
    }
    const { messages: all } = await owner.does('rest', messages.history, { room: channel })
    expect(all.find((one) => one.id === id)).toMatchObject({ content: 'see', attachments: kept, version: 1 })
    await mallory.does('rest', messages.edit, { room: channel, id, text: 'seen', hue: 'red' } as never)
  })

  test('not by a repeat of a message without it', async () => {
    const said = { room: channel, text: 'once', client_msg_id: crypto.randomUUID() }
    await mallory.does('rest', messages.send, said)
    for (const door of over) {
      const again = await mallory.tries(door, messages.send, { ...said, attachments: [{ url: theirs }] })
      if (again.ok) expect(again.data.message.attachments).toEqual([])
    }
  })

  test('not by a bot, who is no sender of what its maker has uploaded', async () => {
    const { token, serviceToken } = await root.does('rest', serviceTokens.create, {
      name: 'Post',
      scopes: ['messages:write', 'rooms:write', 'messages:read'],
    })
    const makers = await storeFileOn(server, root.account, keyOf(root.account, 'a.pdf'), bytes())
    await call(server.url, `POST /api/channels/${channel.id}/join`, {}, token)
    const send = (url: string) =>
      call(server.url, `POST /api/rooms/channel/${channel.id}/messages`, { text: 'see', attachments: [{ url }] }, token)
    for (const url of [makers, theirs, 'https://evil.example/x.exe'])
      expect(await send(url)).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
    expect(serviceToken.account).toMatch(/^bot:/)
  })

  test('a quote of a message with files has none of them', async () => {
    const said = await say(owner, channel, 'Look', { attachments: [{ url: theirs, name: 'plan.pdf' }] })
    for (const door of over) {
      const { message } = await mallory.does(door, messages.send, { room: channel, text: 'nice', reply_to: said.id })
      expect(message).toMatchObject({ attachments: [], reply_to: { id: said.id, content: 'Look' } })
      expect(JSON.stringify(message)).not.toContain(theirs)
    }
  })

  test('other addresses are links in the text, also to files of others', async () => {
    for (const door of over)
      for (const text of [`See ${theirs}`, 'See https://example.com/a.pdf and https://example.com/a.gif'])
        expect((await mallory.does(door, messages.send, { room: channel, text })).message.content).toBe(text)
    expect((await mallory.does('rest', messages.history, { room: channel })).messages.length).toBeGreaterThan(0)
  })
})
