import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import { type Issue, type Issues, issuesOfAPage, passedStatuses } from './port.ts'

const bounds = { timeoutMilliseconds: 10_000, maxBytes: 2 * 1024 * 1024 }

const Told = z
  .object({
    id: z.number().int(),
    number: z.number().int(),
    html_url: z.url({ protocol: /^https?$/ }),
    title: z.string(),
    state: z.enum(['open', 'closed']),
    labels: z.array(
      z.union([z.string(), z.object({ name: z.string().nullish() }).transform(({ name }) => name ?? '')]),
    ),
    created_at: z.iso.datetime({ offset: true }),
    /** GitHub lists pull requests among the issues. */
    pull_request: z.unknown().optional(),
  })
  .transform(({ html_url: url, pull_request, ...issue }) => ({ issue: { ...issue, url }, isChange: !!pull_request }))

const refused = (status: number, cause?: unknown) =>
  new AppError('UPSTREAM_ERROR', {
    ...(passedStatuses.includes(status) ? { status } : {}),
    message: `The code host answered ${status}`,
    cause,
  })

/** The issues of a repository, `owner/name`, by the REST API of GitHub at this address. */
export function githubIssues(apiUrl: string, repository: string, token: string): Issues {
  const at = `${apiUrl.replace(/\/+$/, '')}/repos/${repository}/issues`

  async function ask(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'x-github-api-version': '2022-11-28',
      'user-agent': 'plaza',
      ...(body && { 'content-type': 'application/json' }),
    }
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const { status, text } = await fetchText(`${at}${path}`, request, bounds)
    if (status < 200 || status > 299) throw refused(status)
    return { status, text }
  }
  function readAs<Schema extends z.ZodType>(schema: Schema, { status, text }: { status: number; text: string }) {
    try {
      return schema.parse(JSON.parse(text))
    } catch (cause) {
      throw refused(status, cause)
    }
  }
  const issueIn = async (answer: ReturnType<typeof ask>): Promise<Issue> => readAs(Told, await answer).issue

  return {
    create: (issue) => issueIn(ask('POST', '', issue)),
    async list(state, page) {
      const query = new URLSearchParams({ state, page: String(page), per_page: String(issuesOfAPage) })
      const told = readAs(z.array(Told), await ask('GET', `?${query}`))
      return told.flatMap(({ issue, isChange }) => (isChange ? [] : [issue]))
    },
    async read(number) {
      try {
        return await issueIn(ask('GET', `/${number}`))
      } catch (error) {
        if (error instanceof AppError && [404, 410].includes(error.status)) return null
        throw error
      }
    },
    async comment(number, text) {
      await ask('POST', `/${number}/comments`, { body: text })
    },
    close: (number) => issueIn(ask('PATCH', `/${number}`, { state: 'closed', state_reason: 'completed' })),
  }
}
