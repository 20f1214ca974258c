import { z } from 'zod'
import { issueHost, withoutMentions } from '#server/domains/platform/issues/host'
import type { Node } from '#server/kernel/context'
import { job, PermanentFailure } from '#server/kernel/work/jobs'
import { passedStatuses } from '#server/ports/issues/port'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { BugReports, type StoredBugReport } from './model.ts'

/** Opening an issue ends within so long, or its node has died. */
const claimMilliseconds = 60_000
const titleLength = 100

/** Opens an issue for a report without one; of simultaneous requests one does. */
export async function openIssue(node: Node, id: string) {
  const host = issueHost(node)
  const now = node.now()
  const free = {
    github_issue_number: { $exists: false },
    $or: [{ linking_until: { $exists: false } }, { linking_until: { $lt: new Date(now) } }],
  }
  const claim = { $set: { linking_until: new Date(now + claimMilliseconds) } }
  const report = await BugReports.findOneAndUpdate({ _id: id, ...free }, claim).lean<StoredBugReport>()
  if (!report) {
    if (!(await BugReports.exists({ _id: id }))) throw new AppError('NOT_FOUND', { message: 'Report not found' })
    throw new AppError('VALIDATION_ERROR', { message: 'This report has an issue already, or is just given one' })
  }
  const issue = await host
    .create({
      title: withoutMentions(titleOf(report)),
      body: withoutMentions(bodyOf(report)),
      labels: ['bug', report.category.toLowerCase()],
    })
    .catch(async (error: unknown) => {
      await BugReports.updateOne({ _id: id }, { $unset: { linking_until: '' } })
      throw error
    })
  const linked = { github_issue_number: issue.number, github_issue_url: issue.url, updated_at: new Date(node.now()) }
  await BugReports.updateOne({ _id: id }, { $set: linked, $unset: { linking_until: '' } })
  return { report: { ...report, ...linked }, issue }
}

const titleOf = ({ category, description }: StoredBugReport) =>
  `[${category}] ${cut(description.replace(/\s+/g, ' ').trim(), titleLength)}`

/** Without the reporter and file addresses, as the repository may be public. */
const bodyOf = ({ description, replication_steps: steps }: StoredBugReport) =>
  steps ? `${description}\n\n## Steps\n\n${steps}` : description

/** Closes an issue. After a crash it is repeated, so a comment may appear twice. */
export const closeIssue = job({
  kind: 'bugReports.closeIssue',
  payload: z.object({ number: z.number().int(), comment: z.string().nullable() }),
  async run({ number, comment }, { node }) {
    const host = issueHost(node)
    try {
      await host.close(number)
      if (comment !== null) await host.comment(number, comment)
    } catch (error) {
      const isFinal = error instanceof AppError && passedStatuses.includes(error.status)
      throw isFinal ? new PermanentFailure(error.message, { cause: error }) : error
    }
  },
})
