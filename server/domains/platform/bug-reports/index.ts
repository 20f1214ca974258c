import { z } from 'zod'
import { withKeptFiles } from '#server/domains/media/files/claims'
import { removeUnnamedFiles } from '#server/domains/media/files/removal'
import type { NamedFile } from '#server/domains/moderation/verdict/content'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { issueHost, withoutMentions } from '#server/domains/platform/issues/index'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { orderedPages } from '#server/kernel/store/pages'
import { job, PermanentFailure } from '#server/kernel/work/jobs'
import { passedStatuses } from '#server/ports/issues/port'
import { addressOf, keyAt } from '#server/ports/storage/port'
import { type BugReport, bugReports as contract } from '#shared/api/platform/bug-reports'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { done } from '#shared/kit/primitives'
import { BugReports, type StoredBugReport } from './model.ts'

/** Opening an issue ends within so long, or its node has died. */
const claimMilliseconds = 60_000
const titleLength = 100

/** Opens an issue for a report without one; of simultaneous requests one does. */
async function openIssue(node: Node, id: string) {
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
const closeIssue = job({
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

const refused = () =>
  new AppError('VALIDATION_ERROR', {
    message: 'mediaUrls: not a file that you have uploaded for a report of a fault',
    details: { path: 'mediaUrls' },
  })

/** The distinct files at these addresses. Throws VALIDATION_ERROR for one that this account did not upload for a report. */
function ownReportFiles({ settings }: Node, account: string, urls: readonly string[]): NamedFile[] {
  const { bucket, folder } = storageFolders.bugReport
  const own = `${bucket}/${folder}/${account.toLowerCase()}/`
  return [...new Set(urls)].map((url) => {
    const key = keyAt(settings.storageUrl, url)
    if (!key?.startsWith(own)) throw refused()
    return { url, key }
  })
}

/** Refuses files that are gone or another account's: accounts may differ in case alone. */
function refuseMissingFiles(missing: ReadonlySet<string>): void {
  if (missing.size > 0) throw refused()
}

/** Files of reports stay while a report names them. */
async function reportFilesAmong(urls: readonly string[], { settings }: Node) {
  const keys = urls.flatMap((url) => keyAt(settings.storageUrl, url) ?? [])
  const found = await BugReports.find({ media_keys: { $in: keys } }, { media_keys: 1 }).lean()
  return found.flatMap(({ media_keys }) => media_keys)
}

/** Open reports of one account, apart from races; their files are kept as long. */
const openAtMost = 20
const newestFirst = orderedPages({ created_at: ['time', -1], _id: ['text', -1] })

export const bugReports = defineDomain(
  contract,
  {
    async send({ category, description, replicationSteps, mediaUrls }, context) {
      const { account } = signedIn(context)
      const { node, creationId: _id } = context
      const files = ownReportFiles(node, account, mediaUrls ?? [])
      if ((await BugReports.countDocuments({ user_address: account, status: 'open' })) >= openAtMost)
        throw new AppError('CONFLICT', {
          message: `${openAtMost} reports of yours are open. Wait until one is looked at.`,
        })
      const at = new Date(node.now())
      const $setOnInsert = {
        ...{ user_address: account, category, description },
        ...{ replication_steps: replicationSteps ?? null, media_keys: files.map(({ key }) => key) },
        ...{ status: 'open' as const, created_at: at, updated_at: at },
      }
      const stored = await withKeptFiles(node, account, files, (missing) => {
        refuseMissingFiles(missing)
        return BugReports.findOneAndUpdate({ _id }, { $setOnInsert }, { upsert: true, returnDocument: 'after' }).lean()
      })
      return { ...done, bugReport: renderReport(node, stored) }
    },

    async list({ status, limit, cursor }, context) {
      const list = `bug-reports ${signedIn(context).account} ${status ?? ''}` as const
      const found = await BugReports.find({ ...(status && { status }), ...newestFirst.after(list, cursor) })
        .sort(newestFirst.sort)
        .limit(limit + 1)
        .lean<StoredBugReport[]>()
      const { rows, next_cursor } = newestFirst.cut(list, found, limit)
      return { ...done, bugReports: rows.map((row) => renderReport(context.node, row)), next_cursor }
    },

    async update({ id, status, adminNotes, githubComment = null }, context) {
      const { node } = context
      const at = new Date(node.now())
      const unresolved = { resolved_by: null, resolved_at: null }
      const changes = {
        open: unresolved,
        in_progress: unresolved,
        resolved: { resolved_by: signedIn(context).account, resolved_at: at },
        closed: { media_keys: [] },
      }[status]
      const noted = adminNotes === undefined ? {} : { admin_notes: adminNotes }
      const $set = { status, updated_at: at, ...changes, ...noted }
      const before = await BugReports.findOneAndUpdate({ _id: id }, { $set }).lean<StoredBugReport>()
      if (!before) throw new AppError('NOT_FOUND', { message: 'Report not found' })
      if (status === 'closed') await removeUnnamedFiles(node, before.media_keys)
      const number = before.github_issue_number
      if (status === 'resolved' && number !== undefined && node.services.issues)
        await node.jobs.add(closeIssue, { number, comment: githubComment })
      return { ...done, bugReport: renderReport(node, { ...before, ...$set }) }
    },

    async openIssue({ id }, { node }) {
      const { report, issue } = await openIssue(node, id)
      const { url, number, id: githubId } = issue
      return { ...done, bugReport: renderReport(node, report), githubIssue: { url, number, id: githubId } }
    },
  },
  { jobs: [closeIssue], shows: reportFilesAmong },
)

const renderReport = ({ settings }: Node, row: StoredBugReport): BugReport => ({
  id: row._id,
  user_address: row.user_address,
  category: row.category,
  description: row.description,
  replication_steps: row.replication_steps,
  media_urls: row.media_keys.map((key) => addressOf(settings.storageUrl, key)),
  status: row.status,
  admin_notes: row.admin_notes,
  resolved_by: row.resolved_by,
  resolved_at: row.resolved_at?.toISOString() ?? null,
  github_issue_url: row.github_issue_url ?? null,
  github_issue_number: row.github_issue_number ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
