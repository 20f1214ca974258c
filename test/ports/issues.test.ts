import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fakeIssues } from '#server/ports/issues/fake'
import { githubIssues } from '#server/ports/issues/github'
import type { Issues } from '#server/ports/issues/port'
import { openProvider, type Provider } from '#test/support/providers'

interface Kept {
  [field: string]: unknown
  number: number
  state: string
}

/** Plays the code host: one repository, one token, and a change asked for among its issues. */
async function openCodeHost(): Promise<Provider & { comments: unknown[] }> {
  const known: Kept[] = [{ ...told(1, 'A change'), pull_request: { url: 'x' } }]
  const comments: unknown[] = []
  const provider = await openProvider((path, body, bearer, method) => {
    const [where = '', query] = path.split('?')
    const [, number, rest] = /^\/repos\/plaza\/plaza\/issues(?:\/(\d+)(\/comments)?)?$/.exec(where) ?? []
    if (bearer !== 'a token') return { status: 401, body: { message: 'Bad credentials' } }
    if (!where.startsWith('/repos/plaza/plaza/issues')) return { status: 404, body: {} }
    if (number === undefined && method === 'POST') {
      const { title, labels } = body as { title: string; labels: string[] }
      if (title === 'Refused') return { status: 422, body: { message: 'Validation Failed' } }
      const issue = { ...told(known.length + 1, title), labels: labels.map((name) => ({ name })) }
      known.push(issue)
      return { status: 201, body: issue }
    }
    const state = new URLSearchParams(query).get('state')
    if (number === undefined)
      return { status: 200, body: known.filter((one) => state === 'all' || one.state === state).reverse() }
    const found = known.find((one) => one.number === Number(number))
    if (!found) return { status: 404, body: { message: 'Not Found' } }
    if (rest) comments.push({ number: found.number, ...(body as object) })
    if (method === 'PATCH') Object.assign(found, body)
    return { status: 200, body: found }
  })
  return Object.assign(provider, { comments })
}
const told = (number: number, title: string): Kept => ({
  ...{ id: 1_000 + number, number, title, state: 'open', labels: [] },
  ...{ html_url: `https://code.test/plaza/issues/${number}`, created_at: '2026-11-27T10:00:00Z', body: null },
})

let host: Awaited<ReturnType<typeof openCodeHost>>
beforeAll(async () => {
  host = await openCodeHost()
})
beforeEach(() => {
  host.mood = 'well'
})
afterAll(() => host.close())
const github = (token = 'a token') => githubIssues(`${host.url}/`, 'plaza/plaza', token)

describe.each<[name: string, open: () => Issues]>([
  ['GitHub', github],
  ['the fake', fakeIssues],
])('the port of issues, by %s', (_name, open) => {
  test('opens, lists, reads, comments and closes', async () => {
    const issues = open()
    const made = await issues.create({ title: 'It jumps', body: 'See', labels: ['bug', 'chats'] })
    expect(made).toMatchObject({ title: 'It jumps', state: 'open', labels: ['bug', 'chats'] })
    expect(made.url).toMatch(/^https:\/\/code\.test\/plaza\/issues\/\d+$/)
    expect((await issues.list('open', 1)).map(({ number }) => number)).toEqual([made.number])
    await issues.comment(made.number, 'Done')
    expect(await issues.close(made.number)).toMatchObject({ number: made.number, state: 'closed' })
    expect(await issues.close(made.number)).toMatchObject({ state: 'closed' })
    expect([await issues.list('open', 1), (await issues.list('closed', 1)).length]).toEqual([[], 1])
    expect(await issues.read(made.number)).toMatchObject({ number: made.number, state: 'closed' })
    expect(await issues.read(9_999)).toBeNull()
    await expect(issues.close(9_999)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', status: 404 })
  })
})

test('GitHub is told what was written, and only that', () => {
  expect(host.comments).toEqual([{ number: 2, body: 'Done' }])
})

test('a refusal of the host keeps its status, but for that of our own token', async () => {
  const issue = { title: 'Refused', body: '', labels: [] }
  await expect(github().create(issue)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', status: 422 })
  await expect(github('another').create(issue)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', status: 502 })
})

test.each(['failing', 'junk', 'elsewhere', 'endless', 'lost'] as const)('a host that is %s is 502', async (mood) => {
  host.mood = mood
  await expect(github().list('open', 1)).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', status: 502 })
})
