// Modes: embedded
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createClient } from '#client/sdk/client'
import { memoryStorage } from '#client/sdk/storage'
import { type StreamChat, streamsOf } from '#client/sdk/streams'
import type { Client, ClientOptions } from '#client/sdk/types'
import { type FakeVideo, fakeVideo } from '#server/ports/video/fake'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { wallet } from '#test/support/wallet'

let server: Booted
let video: FakeVideo
let named = 0
const clients: Client[] = []
beforeAll(async () => {
  video = fakeVideo()
  server = await boot({ services: { video } })
})
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
})
afterAll(() => server.close())

const url = () => server.urls.at(-1) ?? server.url
function visitor(more: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url: url(), storage: memoryStorage(), ...more })
  clients.push(client)
  return client
}
async function someone(more: Partial<ClientOptions> = {}): Promise<Client> {
  const client = visitor(more)
  const { address, signMessage } = wallet(`watcher ${++named}`)
  await client.signIn({ address, signMessage: (message) => signMessage({ message }) })
  await expect.poll(() => client.connection.state).toBe(more.transport === 'rest' ? 'rest' : 'online')
  return client
}
const storage = memoryStorage()
const guests = (at = url()) => streamsOf(visitor(), { url: at, storage })

/** Passes connections on to the server, and cuts them. */
async function openRelay() {
  const cables = new Set<Socket>()
  const relay = createServer((near) => {
    const far = connect(Number(new URL(url()).port), '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      cables.add(from)
      from.on('error', () => {}).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    cut() {
      for (const cable of cables) cable.destroy()
    },
    close: () => void relay.close(),
  }
}
async function opened() {
  const owner = await someone()
  const { stream } = await owner.streams.create({ title: 'Morning' })
  return { owner, stream }
}

test('who watches has the state, the counts and the recordings of a stream as they are, and leaves by closing', async () => {
  const { owner, stream } = await opened()
  const watching = streamsOf(await someone()).open(stream.id)
  await expect.poll(() => watching.state.stream?.title).toBe('Morning')
  expect(watching.state).toMatchObject({ state: { status: 'idle' }, room: { type: 'stream', id: stream.id } })
  video.publish(stream.stream_id)
  await expect.poll(() => watching.state.state?.reason).toBe('live')
  await expect.poll(() => watching.state.counts?.viewers).toBe(1)
  const none = { durationSeconds: null, sizeBytes: null, error: null, playbackId: null }
  const asset = { assetId: 'asset', streamId: stream.stream_id, startedAt: new Date(), ...none }
  const address = { playbackUrl: 'http://video.test/a.mp4', downloadUrl: 'http://video.test/a.mp4' }
  video.tellAsset({ ...asset, playbackUrl: null, downloadUrl: null, phase: 'processing', progress: 0.5 })
  await expect.poll(() => watching.state.assets[0]?.status.progress).toBe(0.5)
  video.tellAsset({ ...asset, ...address, phase: 'ready', progress: 1 })
  await expect.poll(() => watching.state.assets.map(({ status }) => status.phase)).toEqual(['ready'])
  const other = streamsOf(await someone()).open(stream.id)
  await expect.poll(() => other.state.counts?.viewers).toBe(2)
  watching.close()
  await expect.poll(() => other.state.counts?.viewers).toBe(1)
  await owner.streams.end({ id: stream.id })
  await expect.poll(() => other.state.state).toMatchObject({ status: 'ended', reason: 'ended_by_owner' })
})

test('a guest watches without a session, is counted once by its key, and is told what it missed', async () => {
  const { owner, stream } = await opened()
  const relay = await openRelay()
  const first = guests(relay.url).open(stream.id)
  await expect.poll(() => first.state.counts?.viewers).toBe(1)
  // The count may arrive before the answer with the key.
  await expect.poll(() => first.state.stream?.id).toBe(stream.id)
  relay.cut()
  video.publish(stream.stream_id)
  await expect.poll(() => first.state.state?.status).toBe('live')
  const second = guests().open(stream.id)
  await expect.poll(() => second.state.state?.status).toBe('live')
  const { unique_viewers, viewer_count } = (await owner.streams.publicStream({ id: stream.id })).stream
  expect([unique_viewers, viewer_count]).toEqual([1, 1])
  first.close()
  second.close()
  relay.cut()
  relay.close()
})

test('who is signed in is told what was missed while the connection was cut', async () => {
  const { stream } = await opened()
  const client = await someone()
  const watching = streamsOf(client).open(stream.id)
  await expect.poll(() => watching.state.state?.status).toBe('idle')
  client.pause()
  video.publish(stream.stream_id)
  await expect.poll(async () => (await visitor().streams.publicStream({ id: stream.id })).stream.status).toBe('live')
  expect(watching.state.state?.status).toBe('idle')
  client.resume()
  await expect.poll(() => watching.state.state?.status).toBe('live')
})

test('a stream that is not there is told as such', async () => {
  for (const streams of [guests(), streamsOf(await someone())]) {
    const watching = streams.open('nobody')
    await expect.poll(() => watching.state.error?.code).toBe('STREAM_NOT_FOUND')
    watching.close()
  }
})

test('who is live is listed to guests and others, and changes as it changes', async () => {
  const lists = [guests().liveNow(), streamsOf(await someone()).liveNow()]
  for (const list of lists) await expect.poll(() => list.state.streams).not.toBe(null)
  const { owner, stream } = await opened()
  const isListed = () => lists.map(({ state }) => state.streams?.some(({ id }) => id === stream.id))
  video.publish(stream.stream_id)
  await expect.poll(isListed).toEqual([true, true])
  await owner.streams.end({ id: stream.id })
  await expect.poll(isListed).toEqual([false, false])
  for (const list of lists) list.close()
})

/** More than one look of the server, and of a client without a socket. */
const slowly = { timeout: 30_000 }
const long = { timeout: 240_000 }

test('the owner of a stream is told whether its picture arrives, and nobody else is', {
  ...heavy,
  ...long,
}, async () => {
  const { owner, stream } = await opened()
  const own = streamsOf(owner).open(stream.id)
  const others = [streamsOf(await someone()).open(stream.id), guests().open(stream.id)]
  await expect.poll(() => own.state.state?.status).toBe('idle')
  expect(own.state.health).toBe(null)
  video.publish(stream.stream_id)
  await expect.poll(() => own.state.health, slowly).toMatchObject({ is_published: true })
  expect(Date.parse(own.state.health?.last_ingest_at ?? '')).toBeGreaterThan(0)
  video.interrupt(stream.stream_id)
  await expect.poll(() => own.state.health?.is_published, slowly).toBe(false)
  for (const watching of others) {
    await expect.poll(() => watching.state.state?.reason, slowly).toBe('interrupted')
    expect(watching.state.health).toBe(null)
  }
  await owner.streams.end({ id: stream.id })
  await expect.poll(() => own.state.state?.status).toBe('ended')
  expect(own.state.health).toBe(null)
  for (const watching of [own, ...others]) watching.close()
})

const saidIn = (chat: StreamChat) =>
  (chat.state.messages ?? []).flatMap(({ is_deleted, content }) => (is_deleted ? [] : [content]))

test('a guest is told what is said, changed and taken back without asking, and catches up after a cut', {
  ...heavy,
  ...long,
}, async () => {
  const { owner, stream } = await opened()
  const relay = await openRelay()
  let asked = 0
  const counting: typeof fetch = (input, init) => {
    if (String(input).includes('/messages')) asked += 1
    return fetch(input, init)
  }
  const room = { type: 'stream', id: stream.id } as const
  const say = async (text: string) => (await owner.messages.send({ room, text })).message
  const first = await say('one')
  const chat = streamsOf(visitor({ fetch: counting }), { url: relay.url, storage }).readChat(stream.id)
  await expect.poll(() => saidIn(chat)).toEqual(['one'])
  const stranger = streamsOf(await someone()).readChat(stream.id)
  await expect.poll(() => saidIn(stranger)).toEqual(['one'])
  const second = await say('two')
  await expect.poll(() => saidIn(chat)).toEqual(['one', 'two'])
  const said = ['one', 'two']
  const askedWhileTold = async () => {
    const before = asked
    for (let times = 0; times < 3; times++) {
      said.push((await say(`told ${said.length}`)).content)
      await expect.poll(() => saidIn(chat), slowly).toEqual(said)
    }
    return asked - before
  }
  await expect.poll(askedWhileTold, { timeout: 90_000 }).toBe(0)
  await owner.messages.edit({ room, id: first.id, text: 'one, again' })
  await owner.messages.remove({ room, id: second.id })
  said.splice(0, 2, 'one, again')
  for (const one of [chat, stranger]) await expect.poll(() => saidIn(one), slowly).toEqual(said)
  relay.cut()
  said.push((await say('while it was cut')).content)
  for (const one of [chat, stranger]) await expect.poll(() => saidIn(one), slowly).toEqual(said)
  await owner.moderation.act({ room, action: 'rules', patch: { rules: { read_access: 'members' } } })
  for (const [one, code] of [
    [chat, 'UNAUTHORIZED'],
    [stranger, 'NOT_A_MEMBER'],
  ] as const)
    await expect.poll(() => one.state, slowly).toMatchObject({ messages: null, error: { code } })
  await owner.moderation.act({ room, action: 'rules', patch: { rules: { read_access: 'everyone' } } })
  await expect.poll(() => saidIn(chat), slowly).toEqual(said)
  chat.close()
  stranger.close()
  relay.cut()
  relay.close()
})

test('without a socket a stream, its chat and the list are asked for every few seconds, by guests and others', {
  ...heavy,
  ...long,
}, async () => {
  const { owner, stream } = await opened()
  const room = { type: 'stream', id: stream.id } as const
  const transport = 'rest' as const
  const all = [
    streamsOf(visitor({ transport }), { url: url(), storage: memoryStorage(), transport }),
    streamsOf(await someone({ transport })),
  ].map((streams) => ({
    watching: streams.open(stream.id),
    chat: streams.readChat(stream.id),
    list: streams.liveNow(),
  }))
  for (const { watching } of all) await expect.poll(() => watching.state.state?.status, slowly).toBe('idle')
  video.publish(stream.stream_id)
  await owner.messages.send({ room, text: 'hello' })
  for (const { watching, chat, list } of all) {
    await expect.poll(() => watching.state.state, slowly).toMatchObject({ status: 'live', reason: 'live' })
    await expect.poll(() => watching.state.counts?.viewers, slowly).toBe(2)
    await expect.poll(() => saidIn(chat), slowly).toEqual(['hello'])
    await expect.poll(() => list.state.streams?.some(({ id }) => id === stream.id), slowly).toBe(true)
  }
  await owner.streams.end({ id: stream.id })
  for (const { watching, list } of all) {
    await expect.poll(() => watching.state.state?.status, slowly).toBe('ended')
    await expect.poll(() => list.state.streams?.some(({ id }) => id === stream.id), slowly).toBe(false)
  }
  for (const parts of all) for (const part of Object.values(parts)) part.close()
})
