import { withFiles } from '#server/domains/media/files/claims'
import { removeUnnamed } from '#server/domains/media/files/removal'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { orderedPages } from '#server/kernel/pages'
import { addressOf } from '#server/ports/storage/port'
import { type BugReport, bugReports as contract } from '#shared/api/bug-reports'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { closeIssue, openIssue } from './linking.ts'
import { mediaAmong, ownFiles, refuseMissing } from './media.ts'
import { BugReports, type StoredBugReport } from './model.ts'

/** Of one account; a few more where several are sent at once. Their files are kept for as long. */
const openAtMost = 20
const newestFirst = orderedPages({ created_at: ['time', -1], _id: ['text', -1] })

export const bugReports = defineDomain(
  contract,
  {
    async send({ category, description, replicationSteps, mediaUrls }, context) {
      const { account } = signedIn(context)
      const { node, creationId: _id } = context
      const files = ownFiles(node, account, mediaUrls ?? [])
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
      const stored = await withFiles(node, account, files, (missing) => {
        refuseMissing(missing)
        return BugReports.findOneAndUpdate({ _id }, { $setOnInsert }, { upsert: true, returnDocument: 'after' }).lean()
      })
      return { ...done, bugReport: shown(node, stored) }
    },

    async list({ status, limit, cursor }, context) {
      const list = `bug-reports ${signedIn(context).account} ${status ?? ''}` as const
      const found = await BugReports.find({ ...(status && { status }), ...newestFirst.after(list, cursor) })
        .sort(newestFirst.sort)
        .limit(limit + 1)
        .lean<StoredBugReport[]>()
      const { rows, next_cursor } = newestFirst.cut(list, found, limit)
      return { ...done, bugReports: rows.map((row) => shown(context.node, row)), next_cursor }
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
      if (status === 'closed') await removeUnnamed(node, before.media_keys)
      const number = before.github_issue_number
      if (status === 'resolved' && number !== undefined && node.services.issues)
        await node.jobs.add(closeIssue, { number, comment: githubComment })
      return { ...done, bugReport: shown(node, { ...before, ...$set }) }
    },

    async openIssue({ id }, { node }) {
      const { report, issue } = await openIssue(node, id)
      const { url, number, id: githubId } = issue
      return { ...done, bugReport: shown(node, report), githubIssue: { url, number, id: githubId } }
    },
  },
  { jobs: [closeIssue], shows: mediaAmong },
)

const shown = ({ settings }: Node, row: StoredBugReport): BugReport => ({
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
