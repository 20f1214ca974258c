// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rooms } from '#shared/api/rooms'
import { type Booted, boot } from '#test/support/boot'
import { type Person, person } from '#test/support/people'

let server: Booted
let alice: Person
let id: string
beforeAll(async () => {
  server = await boot()
  alice = await person(server, 'alice')
  id = (await alice.does('rest', rooms.createChannel, { name: 'A channel' })).channel.id
})
afterAll(() => server.close())

const told = ({ headers }: { headers: Headers }) => [headers.get('deprecation'), headers.get('link')]

test('N85: an answer of another spelling says that it is one, and where to go', async () => {
  const answer = await alice.rest(`GET /api/channels/${id}`)
  expect(answer.status).toBe(200)
  expect(told(answer)).toEqual([
    expect.stringMatching(/^@\d{10}$/),
    `</api/rooms/channel/${id}>; rel="successor-version"`,
  ])
  const [, since] = /^@(\d+)$/.exec(`${told(answer)[0]}`) ?? []
  expect(Number(since) * 1_000).toBeLessThan(Date.now() + 86_400_000)
})

test('N85: the path that it names answers the same room, and is not deprecated', async () => {
  const [, link] = told(await alice.rest(`GET /api/channels/${id}`))
  const [, path = ''] = /<(.+)>/.exec(`${link}`) ?? []
  const answer = await alice.rest(`GET ${path}`)
  expect(answer.body).toMatchObject({ room: { id } })
  expect(told(answer)).toEqual([null, null])
})

test('N85: a refusal of another spelling says it too; what is not an operation never does', async () => {
  const refused = await alice.rest('GET /api/channels/0195c2de-0000-7abc-8def-0123456789ab')
  expect([refused.status, refused.code]).toEqual([404, 'ROOM_NOT_FOUND'])
  expect(told(refused)[0]).toMatch(/^@\d+$/)
  expect(told(await alice.rest('GET /api/nowhere'))).toEqual([null, null])
  expect(told(await alice.rest('GET /api/status'))).toEqual([null, null])
})
