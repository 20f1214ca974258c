// Modes: embedded
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { fakeIssues } from '#server/ports/issues/fake'
import { bugReports } from '#shared/api/platform/bug-reports'
import { issues } from '#shared/api/platform/issues'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { over, type Person, person } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

const host = fakeIssues()
const asked = { title: 'It jumps', body: 'When I scroll.' }
/** Guards are as many times as high here; see `test/support/boot.ts`. */
const scale = 8
const environment = { ADMINS: wallet('issues: admin').address, RATE_LIMIT_SCALE: String(scale) }
let server: Booted
let admin: Person
let who: Person

describe('with a code host', () => {
  beforeAll(async () => {
    server = await boot({ services: { issues: host }, environment })
    admin = await person(server, 'issues: admin')
    who = await person(server, 'issues: who')
  })
  beforeEach(() => {
    host.away = null
  })
  afterAll(() => server.close())

  const report = async (description = 'The list jumps.') =>
    (await who.does('rest', bugReports.send, { category: 'Chats', description, replicationSteps: 'Scroll.' })).bugReport

  describe('issues of the repository', () => {
    test('are opened for who is signed in, named by their account, and read', async () => {
      const { issue } = await who.does('rest', issues.create, asked)
      expect(host.bodies.get(issue.number)).toContain(who.account)
      expect((await who.does('rest', issues.list, {})).issues[0]).toMatchObject({ title: 'It jumps', labels: ['bug'] })
      expect((await who.does('rest', issues.read, { number: `${issue.number}` })).issue.url).toBe(issue.url)
      expect((await who.refused('rest', issues.read, { number: '99999' })).code).toBe('NOT_FOUND')
    })

    test('are read so often a minute that no reader takes what all readers have', heavy, async () => {
      server.setAhead(61)
      const [eager, other] = [await person(server, 'issues: reader'), await person(server, 'issues: other reader')]
      const reads = (one: Person, times: number) =>
        Promise.all(Array.from({ length: times }, () => one.tries('rest', issues.list, {})))
      const refused = async (one: Person, times: number) =>
        (await reads(one, times)).flatMap((answer) => (answer.ok ? [] : [answer.error.code]))
      expect(await refused(eager, 30 * scale + 2)).toEqual(['RATE_LIMIT_EXCEEDED', 'RATE_LIMIT_EXCEEDED'])
      expect(await refused(other, 30 * scale)).toEqual([])
      const { code, retryAfter } = await who.refused('rest', issues.read, { number: '1' })
      expect([code, retryAfter]).toEqual(['RATE_LIMIT_EXCEEDED', expect.any(Number)])
      server.setAhead(122)
      expect((await who.does('rest', issues.list, {})).issues).toEqual(expect.any(Array))
      server.setAhead(0)
    })

    test('are opened once for a key', async () => {
      const once = { ...asked, idempotency_key: 'once' }
      expect(await who.does('rest', issues.create, once)).toEqual(await who.does('rest', issues.create, once))
    })

    test('name nobody to whom the code host would write, and are few a day', async () => {
      const eager = await person(server, 'issues: eager')
      const { issue } = await eager.does('rest', issues.create, { title: 'For @octocat', body: 'cc @octocat/all' })
      expect((await who.does('rest', issues.read, { number: `${issue.number}` })).issue.title).toBe(
        'For @\u200boctocat',
      )
      expect(host.bodies.get(issue.number)).not.toMatch(/@octocat/)
      for (let more = 1; more < 5 * scale; more++) await eager.does('rest', issues.create, asked)
      // Beyond what is counted by the minute.
      server.setAhead(61)
      expect(await eager.refused('rest', issues.create, asked)).toMatchObject({
        code: 'RATE_LIMIT_EXCEEDED',
        retryAfter: 86_400,
      })
      server.setAhead(0)
    })

    test('are closed by admins alone', async () => {
      const { issue } = await who.does('rest', issues.create, asked)
      const close = { number: `${issue.number}`, comment: 'As it should be' }
      expect((await who.refused('rest', issues.close, close)).code).toBe('FORBIDDEN')
      expect((await admin.does('rest', issues.close, close)).issue).toEqual({
        ...issue,
        id: undefined,
        state: 'closed',
      })
      expect(host.comments.at(-1)).toEqual({ number: issue.number, text: 'As it should be' })
    })

    test('are asked for by a number, with a title and a text', async () => {
      expect((await admin.rest('GET /api/github/issues?state=&page=1&per_page=5')).status).toBe(200)
      for (const path of ['GET /api/github/issues/x', 'GET /api/github/issues/0', 'GET /api/github/issues?page=0'])
        expect([path, (await admin.rest(path)).status]).toEqual([path, 400])
      for (const wrong of [{ title: ' ' }, { body: '\n' }, { labels: [''] }, { labels: Array(6).fill('x') }])
        expect([wrong, (await who.rest('POST /api/github/issues', { ...asked, ...wrong })).status]).toEqual([
          wrong,
          400,
        ])
      expect((await call(server.url, 'GET /api/github/issues')).status).toBe(401)
    })

    test.each([
      ['UPSTREAM_ERROR', 'UPSTREAM_ERROR', 502],
      ['TIMEOUT', 'TIMEOUT', 504],
      [422, 'UPSTREAM_ERROR', 422],
    ] as const)('say what the host says: %s', async (away, code, status) => {
      const made = await who.does('rest', issues.create, asked)
      const { id } = await report()
      host.away = away
      const number = `${made.issue.number}`
      const refusals = [
        await who.refused('rest', issues.create, asked),
        await who.refused('rest', issues.list, {}),
        await who.refused('rest', issues.read, { number }),
        await admin.refused('rest', issues.close, { number }),
        await admin.refused('rest', bugReports.openIssue, { id }),
        await admin.refused('socket', bugReports.openIssue, { id }),
      ]
      expect(refusals.map((one) => [one.code, one.status])).toEqual(refusals.map(() => [code, status]))
      host.away = null
      await admin.does('rest', bugReports.openIssue, { id })
    })
  })

  describe('the issue of a report', () => {
    test.each(over)('is opened by an admin over %s, once, without who reported it', async (door) => {
      const { id } = await report(`The list\n\njumps. ${'x'.repeat(200)}`)
      const { bugReport, githubIssue } = await admin.does(door, bugReports.openIssue, { id })
      expect(bugReport).toMatchObject({ github_issue_number: githubIssue.number, github_issue_url: githubIssue.url })
      const made = await host.read(githubIssue.number)
      expect(made).toMatchObject({ title: `[Chats] The list jumps. ${'x'.repeat(84)}`, labels: ['bug', 'chats'] })
      expect(host.bodies.get(githubIssue.number)).toMatch(/Scroll\./)
      expect(host.bodies.get(githubIssue.number)).not.toContain(who.account)
      expect(await admin.refused(door, bugReports.openIssue, { id })).toMatchObject({ status: 400 })
      expect((await admin.refused(door, bugReports.openIssue, { id: 'none' })).code).toBe('NOT_FOUND')
      expect((await who.refused(door, bugReports.openIssue, { id })).code).toBe('FORBIDDEN')
    })

    test('is one, of many who ask at once', async () => {
      const { id } = await report()
      const before = host.bodies.size
      const answers = await Promise.all(
        over.flatMap((door) => [1, 2].map(() => admin.tries(door, bugReports.openIssue, { id }))),
      )
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
      expect(host.bodies.size).toBe(before + 1)
    })

    test('is closed with a comment when the report is resolved, once the host can be reached', async () => {
      const { id } = await report()
      const { githubIssue } = await admin.does('rest', bugReports.openIssue, { id })
      host.away = 'UPSTREAM_ERROR'
      await admin.does('rest', bugReports.update, { id, status: 'resolved', githubComment: 'In the next version' })
      host.away = null
      await expect.poll(async () => (await host.read(githubIssue.number))?.state, { timeout: 20_000 }).toBe('closed')
      await expect.poll(() => host.comments.at(-1)).toEqual({ number: githubIssue.number, text: 'In the next version' })
    })
  })
})

test('what asks a code host answers 500 where none is configured', async () => {
  const bare = await boot({ environment })
  const one = await person(bare, 'issues: admin')
  for (const path of ['GET /api/github/issues', 'GET /api/github/issues/1', 'PATCH /api/github/issues/1']) {
    const { status, body } = await one.rest(path, path.startsWith('PATCH') ? {} : null)
    expect([path, status, body]).toMatchObject([
      path,
      500,
      { code: 'SERVICE_UNAVAILABLE', error: expect.stringContaining('GITHUB_TOKEN') },
    ])
  }
  expect((await one.refused('rest', issues.create, asked)).status).toBe(500)
  expect((await one.refused('socket', bugReports.openIssue, { id: 'none' })).status).toBe(500)
  await bare.close()
})

test('the variables of the code host belong together', () => {
  const read = (more: object) => () => readConfig({ NODE_ENV: 'test', ...more })
  expect(read({ GITHUB_TOKEN: 'a' })).toThrow('belong together')
  expect(read({ GITHUB_REPOSITORY: 'a/b' })).toThrow('belong together')
  expect(read({ GITHUB_TOKEN: 'a', GITHUB_REPOSITORY: 'nothing' })).toThrow('GITHUB_REPOSITORY')
  expect(read({ GITHUB_TOKEN: 'a', GITHUB_REPOSITORY: 'a/b' })().github).toMatchObject({
    repository: 'a/b',
    token: 'a',
  })
})
