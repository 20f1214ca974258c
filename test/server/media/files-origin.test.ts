// Modes: embedded
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { localStorage } from '#server/ports/storage/local'
import { messages } from '#shared/api/rooms/messages'
import { request, sendBytes } from '#test/hostile/wire'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, person } from '#test/support/people'
import { pngOf } from '#test/support/pictures'

const filesHost = 'files.plaza.test'
let folder: string
let server: Booted
let who: Person
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-apart-'))
  const environment = { FILES_ORIGIN: `http://${filesHost}:3000` }
  server = await boot({ environment, services: { storage: await localStorage(folder) } })
  who = await person(server, 'apart')
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const get = async (host: string, path: string, headers: string[] = []) => {
  const asked = request(`GET ${path}`, headers).toString().replace('Host: localhost', `Host: ${host}`)
  return sendBytes(server.url, asked)
}

test('T24: files have a host of their own, where nothing else is, and the others serve none', heavy, async () => {
  const body = new FormData()
  body.set('file', new File([new Uint8Array(pngOf())], 'x'))
  const headers = { authorization: `Bearer ${who.token}` }
  const answer = await fetch(`${who.url}/api/upload`, { method: 'POST', headers, body })
  const { url } = (await answer.json()) as { url: string }
  expect(url).toMatch(new RegExp(`^http://${filesHost}:3000/files/media/chat/`))
  const { pathname } = new URL(url)
  for (const host of [filesHost, `${filesHost}:3000`, filesHost.toUpperCase()]) {
    const { status, headers: told } = await get(host, pathname)
    expect([host, status, told['content-type']]).toEqual([host, 200, 'image/png'])
    for (const path of ['/', '/api/status', '/health', '/hls/a/b', '/files']) {
      const refused = await get(host, path)
      expect([path, refused.status, refused.headers['content-security-policy']]).toEqual([
        path,
        404,
        expect.stringContaining("default-src 'none'"),
      ])
    }
  }
  for (const path of [pathname, pathname.replace('/files/', '/Files/')])
    expect([path, (await get('localhost', path)).status]).toEqual([path, 404])
  expect((await get('localhost', '/api/status')).status).toBe(200)
  const room = await channelOf(who)
  const { message } = await who.does('rest', messages.send, { room, text: `[IMAGE]${url}` })
  expect(message.content).toBe(`[IMAGE]${url}`)
})

test('T24: no socket is opened at the host of files', async () => {
  const upgrade = [
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Connection: Upgrade',
  ]
  const line = '/socket.io/?EIO=4&transport=websocket'
  const bytes = (host: string) => [`GET ${line} HTTP/1.1`, `Host: ${host}`, ...upgrade, '', ''].join('\r\n')
  expect((await sendBytes(server.url, bytes(filesHost))).status).toBe(403)
})

test.each([
  [{ FILES_ORIGIN: 'https://plaza.test:8443' }, 'another host name'],
  [{ FILES_ORIGIN: 'https://files.test/files' }, 'without a path'],
  [{ FILES_ORIGIN: 'https://files.test', STORAGE_URL: 'https://cdn.test' }, 'exclude each other'],
])('%j stops the start', (given, says) => {
  expect(() => readConfig({ PUBLIC_URL: 'https://plaza.test', ...given })).toThrow(says)
})
