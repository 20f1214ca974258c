// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { type Person, person } from '#test/support/people'

let server: Booted
let alice: Person
let id: string
beforeAll(async () => {
  server = await boot({ entry: 'in alpha' })
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

const unknown = '0195c2de-0000-7abc-8def-0123456789ab'
const text = { 'content-type': 'text/plain' }
/** What is refused at an older path, before its input is read or after, and the path that it names. */
const refusals: [what: string, route: string, body: object | null, headers: object, status: number, link: string][] = [
  ['a room that is not there', `GET /api/channels/${unknown}`, null, {}, 404, `/api/rooms/channel/${unknown}`],
  ['nobody', 'POST /api/channels/ID/messages', {}, { authorization: '' }, 401, '/api/rooms/channel/ID/messages'],
  ['an input that does not fit', 'POST /api/channels/ID/messages', {}, {}, 400, '/api/rooms/channel/ID/messages'],
  ['another type of body', 'POST /api/groups/ID/leave', {}, text, 415, '/api/rooms/group/ID/leave'],
  ['a message', 'PATCH /api/alpha/messages/M', {}, {}, 400, '/api/rooms/alpha/messages/M'],
  ['alpha as a channel', 'DELETE /api/channels/global/messages/M', null, {}, 404, '/api/rooms/alpha/messages/M'],
  ['a member', 'POST /api/channels/ID/members/0xZ/kick', {}, {}, 400, '/api/rooms/channel/ID/members/0xZ/kick'],
  [
    'a room of a place',
    `GET /api/location-chats/${unknown}/members`,
    null,
    {},
    404,
    `/api/rooms/location/${unknown}/members`,
  ],
]
test.each(refusals)('N85: a refusal says it too: %s', async (_what, route, body, headers, status, link) => {
  const refused = await alice.rest(route.replace('ID', id), body, headers)
  expect([refused.status, ...told(refused)]).toEqual([
    status,
    expect.stringMatching(/^@\d+$/),
    `<${link.replace('ID', id)}>; rel="successor-version"`,
  ])
})

test('N85: so does one whose path lacks what the other has, once its input is read', async () => {
  const refused = await alice.rest(`DELETE /api/agents/${unknown}/knowledge?itemId=k1`)
  expect([refused.status, ...told(refused)]).toEqual([
    404,
    expect.stringMatching(/^@\d+$/),
    `</api/agents/${unknown}/knowledge/k1>; rel="successor-version"`,
  ])
})

test('another method of the same path is as good, and not deprecated', async () => {
  for (const method of ['POST', 'PUT']) {
    const answer = await alice.rest(`${method} /api/profile/theme`, { accent_color: '#123456' })
    expect([method, answer.status, ...told(answer)]).toEqual([method, 200, null, null])
  }
  expect(told(await alice.rest('PUT /api/profile/theme', { accent_color: 'none' }))).toEqual([null, null])
})

test('N85: what is not an operation, or not an older one, never says it', async () => {
  expect(told(await alice.rest('GET /api/nowhere'))).toEqual([null, null])
  expect(told(await alice.rest('GET /api/status'))).toEqual([null, null])
})

test('a path that is far too long is not said again: clients take headers of 16 kB', async () => {
  const answer = await alice.rest(`GET /api/channels/${'x'.repeat(10_000)}`)
  expect(told(answer)).toEqual([expect.stringMatching(/^@\d{10}$/), null])
})
