import { withKeptFiles } from '#server/domains/media/files/claims'
import { removeUnnamedFiles } from '#server/domains/media/files/removal'
import type { NamedFile } from '#server/domains/moderation/verdict/named-files'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { orderedPages } from '#server/kernel/store/pages'
import { addressOf, keyAt } from '#server/ports/storage/port'
import { type BugReport, bugReports as contract } from '#shared/api/platform/bug-reports'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { closeIssue, openIssue } from './linking.ts'
import { BugReports, type StoredBugReport } from './model.ts'

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
