import { type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { Issue, Issues } from '#server/ports/issues/port'
import { issues as contract } from '#shared/api/platform/issues'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'

/** The code host. Throws 500 without one, as the documents have it. */
export function issueHost({ services: { issues } }: Node): Issues {
  if (issues) return issues
  throw new AppError('SERVICE_UNAVAILABLE', {
    status: 500,
    message: 'GitHub is not configured: GITHUB_TOKEN and GITHUB_REPOSITORY are not set',
  })
}

/** Breaks mentions (`@`), about which the code host would notify people. */
export const withoutMentions = (text: string): string => text.replace(/@(?=[\w-])/g, '@\u200b')

const daySeconds = 86_400
/** Issues a day, as they are written with the operator's token. */
const most = { byOne: 5, byAll: 50 }
const minuteSeconds = 60
/** Readings a minute, as the host counts all together. */
const mostRead = { byOne: 30, byAll: 60 }

export const issues = defineDomain(contract, {
  async create({ title, body, labels }, context) {
    const by = signedIn(context).account
    const host = issueHost(context.node)
    const { limits } = context.node
    const isAllowed =
      (await limits.guard('issues-by', by, most.byOne, daySeconds)) &&
      (await limits.guard('issues-by', 'everybody', most.byAll, daySeconds))
    if (!isAllowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: daySeconds })
    const { url, number, id } = await host.create({
      title: withoutMentions(title),
      body: `${withoutMentions(body)}\n\n---\n\nAsked for by \`${by}\`.`,
      labels,
    })
    return { ...done, issue: { url, number, id } }
  },

  async list({ state = 'open', page }, context) {
    const host = await hostToRead(context)
    return { issues: (await host.list(state, page)).map(renderIssue) }
  },

  async read({ number }, context) {
    const host = await hostToRead(context)
    const issue = await host.read(number)
    if (!issue) throw new AppError('NOT_FOUND', { message: 'Issue not found' })
    return { issue: renderIssue(issue) }
  },

  async close({ number, comment }, { node }) {
    const host = issueHost(node)
    if (comment) await host.comment(number, comment)
    const { url } = await host.close(number)
    return { ...done, issue: { url, number, state: 'closed' as const } }
  },
})

/** The code host, within the reading limits of the account and of all. */
async function hostToRead(context: Context) {
  const { node } = context
  const host = issueHost(node)
  const { account } = signedIn(context)
  const retryAfter =
    (await node.limits.wait('issues-read-by', account, mostRead.byOne, minuteSeconds)) ??
    (await node.limits.wait('issues-read-by', 'everybody', mostRead.byAll, minuteSeconds))
  if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
  return host
}

const renderIssue = ({ number, title, state, labels, url, created_at }: Issue) => ({
  ...{ number, title, state, labels, url, created_at },
})
