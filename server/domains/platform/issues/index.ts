import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { Issue } from '#server/ports/issues/port'
import { issues as contract } from '#shared/api/issues'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { codeHost } from './host.ts'
import { namesNobody } from './quiet.ts'

const daySeconds = 86_400
/** Issues a day: they are written with the token of whoever runs this server. */
const most = { byOne: 5, byAll: 50 }
const minuteSeconds = 60
/** Readings a minute: the host counts those of everybody together, by the hour. */
const mostRead = { byOne: 30, byAll: 60 }

export const issues = defineDomain(contract, {
  async create({ title, body, labels }, context) {
    const by = signedIn(context).account
    const host = codeHost(context.node)
    const { limits } = context.node
    const isAllowed =
      (await limits.guard('issues-by', by, most.byOne, daySeconds)) &&
      (await limits.guard('issues-by', 'everybody', most.byAll, daySeconds))
    if (!isAllowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: daySeconds })
    const { url, number, id } = await host.create({
      title: namesNobody(title),
      body: `${namesNobody(body)}\n\n---\n\nAsked for by \`${by}\`.`,
      labels,
    })
    return { ...done, issue: { url, number, id } }
  },

  async list({ state = 'open', page }, context) {
    const host = await hostToRead(context)
    return { issues: (await host.list(state, page)).map(shown) }
  },

  async read({ number }, context) {
    const host = await hostToRead(context)
    const issue = await host.read(number)
    if (!issue) throw new AppError('NOT_FOUND', { message: 'Issue not found' })
    return { issue: shown(issue) }
  },

  async close({ number, comment }, { node }) {
    const host = codeHost(node)
    if (comment) await host.comment(number, comment)
    const { url } = await host.close(number)
    return { ...done, issue: { url, number, state: 'closed' as const } }
  },
})

/** The code host, for as many readings as one account, and all together, have in a minute. */
async function hostToRead(context: Context) {
  const { node } = context
  const host = codeHost(node)
  const { account } = signedIn(context)
  const retryAfter =
    (await node.limits.wait('issues-read-by', account, mostRead.byOne, minuteSeconds)) ??
    (await node.limits.wait('issues-read-by', 'everybody', mostRead.byAll, minuteSeconds))
  if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
  return host
}

const shown = ({ number, title, state, labels, url, created_at }: Issue) => ({
  ...{ number, title, state, labels, url, created_at },
})
