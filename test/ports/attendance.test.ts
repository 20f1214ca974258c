import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { httpAttendance } from '#server/ports/attendance/http'
import type { Attendance } from '#server/ports/attendance/port'
import { scriptedAttendance } from '#server/ports/attendance/scripted'
import { openAttendanceProvider } from '#test/support/attendance'

const events = [
  { id: 1, name: 'One', imageUrl: 'https://example.org/one.png' },
  { id: 2, name: null, imageUrl: null },
]
const collection = { description: null, logoImageUrl: null, bannerImageUrl: null, year: 2026 }
const collections = [
  { ...collection, id: 7, title: 'Both', dropIds: [1, 2] },
  { ...collection, id: 8, title: 'The second', dropIds: [2] },
]
const script = scriptedAttendance({ events, collections })
const holder = `0x${'1'.repeat(40)}`
const other = `0x${'2'.repeat(40)}`
const key = 'a key'
let provider: Awaited<ReturnType<typeof openAttendanceProvider>>
beforeAll(async () => {
  provider = await openAttendanceProvider(script, key)
  script.mint(holder, 1)
})
beforeEach(() => {
  Object.assign(provider, { mood: 'well', answer: null })
  script.away = null
})
afterAll(() => provider.close())

const overHttp = (withKey = key) =>
  httpAttendance({ baseUrl: `${provider.url}/`, key: withKey, compassUrl: provider.compassUrl })

const subjects = {
  'a script': {
    open: (): Attendance => script,
    fail(how: typeof script.away) {
      script.away = how
    },
  },
  'a provider over HTTP': {
    open: overHttp,
    fail(how: typeof script.away) {
      provider.mood = how === null ? 'well' : how === 'TIMEOUT' ? 'silent' : 'failing'
    },
  },
}

const questions: [string, (attendance: Attendance) => Promise<unknown> | undefined][] = [
  ['the events of an address', (attendance) => attendance.eventsOf(holder)],
  ['whether an address holds a token', (attendance) => attendance.holds(other, 1)],
  ['collections', (attendance) => attendance.collections?.list({ offset: 0, limit: 20, search: null })],
  ['a search', (attendance) => attendance.collections?.list({ offset: 0, limit: 20, search: 'a' })],
  ['one collection', (attendance) => attendance.collections?.get(7)],
  ['collections of events', (attendance) => attendance.collections?.having([1])],
]

describe.each(Object.entries(subjects))('the port of attendance, by %s', (_name, { open, fail }) => {
  test('tells the events of an address, each once, and nothing of an address without any', async () => {
    expect(await open().eventsOf(holder)).toEqual([events[0]])
    expect(await open().eventsOf(other)).toEqual([])
  })

  test('tells whether an address holds a token of an event', async () => {
    expect(await open().holds(holder, 1)).toBe(true)
    expect(await open().holds(holder, 2)).toBe(false)
    expect(await open().holds(other, 1)).toBe(false)
  })

  test('tells collections by pages, newest first, by words, and by their events', async () => {
    const { list, get, having } = open().collections ?? expect.fail()
    const [second, both] = [
      { ...collection, id: 8, title: 'The second', dropsCount: 1 },
      { ...collection, id: 7, title: 'Both', dropsCount: 2 },
    ]
    expect(await list({ offset: 0, limit: 20, search: null })).toEqual([second, both])
    expect(await list({ offset: 1, limit: 1, search: null })).toEqual([both])
    expect(await list({ offset: 0, limit: 20, search: 'second' })).toEqual([second])
    expect(await list({ offset: 0, limit: 20, search: '"}) { id } #' })).toEqual([])
    expect(await get(7)).toEqual({ ...both, dropIds: [1, 2] })
    expect(await get(9)).toBeNull()
    expect(await having([1])).toEqual([both])
    expect(await having([])).toEqual([])
  })

  test.each(questions)(
    'does not answer %s where nobody answers it, and does so again after',
    async (_title, ask) => {
      for (const how of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
        fail(how)
        await expect(ask(open())).rejects.toMatchObject({ code: how })
      }
      fail(null)
      await ask(open())
    },
    20_000,
  )
})

describe('the provider over HTTP', () => {
  test.each(questions)('T53: has no answer to %s where the provider tells junk', async (_title, ask) => {
    for (const mood of ['junk', 'html', 'huge', 'elsewhere', 'empty things', 'graphql errors'] as const) {
      provider.mood = mood
      await expect(ask(overHttp()), mood).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    }
  })

  test('shows its key in a header, and has no answer with another, whose reason is not repeated', async () => {
    const refusal = await overHttp('another')
      .eventsOf(holder)
      .catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'UPSTREAM_ERROR' })
    expect(String((refusal as Error).message)).not.toContain('secret')
  })

  const vectors = JSON.parse(readFileSync('test/vectors/attendance-provider.json', 'utf8'))
  test('reads what the provider of the vectors answers', async () => {
    const [item] = vectors.scan.body
    const read = [{ id: 16947, name: 'Example event 2022', imageUrl: 'https://example.org/image.png' }]
    for (const body of [vectors.scan.body, { tokens: [item] }, { poaps: [item] }]) {
      provider.answer = { status: 200, body }
      expect(await overHttp().eventsOf(holder)).toEqual(read)
    }
    expect(provider.asked.at(-1)).toBe(vectors.scan.path.replace('{address}', holder))
    const { holdsYes, holdsNo } = vectors
    for (const [status, body, holds] of [
      [200, holdsYes.body, true],
      [200, [holdsYes.body], true],
      [200, { tokens: [] }, false],
      [holdsNo.status, holdsNo.body, false],
      [holdsNo.alternative.status, holdsNo.alternative.body, false],
    ] as const) {
      provider.answer = { status, body }
      expect(await overHttp().holds(holder, 16947)).toBe(holds)
    }
  })

  test.each([[{ tokenId: '1', event: { id: 5 } }], [[{}]], [{}], [{ statusCode: 200 }], ['yes'], [true]])(
    'T53: does not take %j for a token of an event',
    async (body) => {
      provider.answer = { status: 200, body }
      await expect(overHttp().holds(holder, 1)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    },
  )

  test('T53: names and images of the provider are one line of text, and URLs of the web', async () => {
    const told = (name: unknown, image_url: unknown) => ({ tokenId: '1', event: { id: 1, name, image_url } })
    const read = async (name: unknown, image: unknown) => {
      provider.answer = { status: 200, body: [told(name, image)] }
      return (await overHttp().eventsOf(holder))[0]
    }
    expect(await read('a\u0000b\nc\u202ed', 'javascript:alert(1)')).toEqual({ id: 1, name: 'a b c d', imageUrl: null })
    expect(await read('x'.repeat(5_000), 'https://a@b.example/')).toEqual({
      id: 1,
      name: 'x'.repeat(200),
      imageUrl: null,
    })
    expect(await read({ a: 1 }, 'data:text/html,x')).toEqual({ id: 1, name: null, imageUrl: null })
    for (const id of [0, -1, 1.5, '1', 2 ** 31, null]) {
      provider.answer = { status: 200, body: [{ event: { id, name: 'x' } }] }
      await expect(overHttp().eventsOf(holder)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
    }
  })

  test('what is asked for cannot leave its part of the path', async () => {
    await overHttp()
      .eventsOf('../../keys?all=1#')
      .catch(() => null)
    expect(provider.asked.at(-1)).toBe('/actions/scan/..%2F..%2Fkeys%3Fall%3D1%23')
  })

  test('without a place for collections it has none', () => {
    expect(httpAttendance({ baseUrl: provider.url, key, compassUrl: undefined }).collections).toBeNull()
  })
})
