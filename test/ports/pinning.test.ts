import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakePinning } from '#server/ports/pinning/fake'
import { httpPinning } from '#server/ports/pinning/http'

const hash = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
let answer: { status: number; body: string }
let asked: { bearer: string | undefined; body: string } | null = null
const server = createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  asked = { bearer: request.headers.authorization, body: Buffer.concat(parts).toString('latin1') }
  response.writeHead(answer.status, { location: '/elsewhere' }).end(answer.body)
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const service = () =>
  httpPinning(`http://127.0.0.1:${(server.address() as AddressInfo).port}/pin`, 'a key', ['https://one.test/'])
const file = new Blob(['pixels'])

describe.each([
  ['a service', () => service(), () => (answer = { status: 200, body: JSON.stringify({ IpfsHash: hash }) })],
  [
    'a node of IPFS',
    () => service(),
    () => (answer = { status: 200, body: JSON.stringify({ Hash: hash, Name: 'x' }) }),
  ],
  ['the fake', () => fakePinning(hash), () => undefined],
])('the port of pinning, by %s', (_name, open, prepare) => {
  test('pins a file, and says its hash and where it can be read', async () => {
    prepare()
    const pinning = open()
    expect(await pinning.pin('art.png', file)).toBe(hash)
    expect(pinning.urlsOf(hash)).toContainEqual(expect.stringMatching(new RegExp(`^https://.+/ipfs/${hash}$`)))
  })
})

test('a service is sent the file and the key', () => {
  expect(asked).toEqual({ bearer: 'Bearer a key', body: expect.stringContaining('name="file"; filename="art.png"') })
  expect(asked?.body).toContain('pixels')
})

test.each([
  [500, '{}'],
  [200, '<html>welcome</html>'],
  [200, '{}'],
  [200, JSON.stringify({ IpfsHash: '<script>' })],
  [200, JSON.stringify({ IpfsHash: `x${'y'.repeat(100_000)}` })],
  [302, ''],
])('T15: a service that answers %i %s has pinned nothing', async (status, body) => {
  answer = { status, body }
  await expect(service().pin('art.png', file)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
})
