import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fakePlatformData } from '#server/ports/platform-data/fake'
import { graphqlData } from '#server/ports/platform-data/graphql'
import { answers, openModelServer } from '#test/support/model-server'

let server: Awaited<ReturnType<typeof openModelServer>>
beforeAll(async () => {
  server = await openModelServer()
})
afterAll(() => server.close())

const { signal } = new AbortController()
const told = { data: { rooms: 7 } }
const fake = fakePlatformData(told)
const subjects = {
  'the fake': {
    open: () => fake,
    fail(how: typeof fake.away) {
      fake.away = how
    },
  },
  GraphQL: {
    open: () => graphqlData(server.url),
    fail: (how: typeof fake.away) =>
      server.behave(how === null ? answers(200, told) : how === 'TIMEOUT' ? () => {} : answers(500, '<html>')),
  },
}

describe.each(Object.entries(subjects))('the port of platform data, by %s', (_name, { open, fail }) => {
  beforeEach(() => fail(null))

  test('tells what was asked for, as JSON', async () => {
    expect(JSON.parse(await open().query('{ rooms }', { a: 1 }, signal))).toEqual(told)
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)('throws %s where there is no answer', async (how) => {
    fail(how)
    await expect(open().query('{ rooms }', {}, signal)).rejects.toMatchObject({ code: how })
  })
})

test('GraphQL that says nothing is left when the asker leaves', async () => {
  server.behave(() => {})
  const asking = graphqlData(server.url).query('{ rooms }', {}, AbortSignal.timeout(100))
  await expect(asking).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('GraphQL is asked with the document and its variables', async () => {
  server.behave(answers(200, told))
  await graphqlData(server.url).query('{ rooms }', { a: 1 }, signal)
  expect(server.asked[0]?.body).toEqual({ query: '{ rooms }', variables: { a: 1 } })
})
