import { accountOf } from '#server/domains/people/accounts/accounts'
import { roleOf } from '#server/domains/people/accounts/roles'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { nodeState } from '#server/kernel/operate/node-state'
import { isDuplicate } from '#server/ports/database/port'
import { type social as contract, Report } from '#shared/api/moderation/social'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { blockAccount } from './blocks.ts'
import { beforeDecision, refuseLateDecision, refuseOverruling, unchangedFilter } from './decisions.ts'
import { contentBy, reportSubjectOf, settleReport, withEvidence } from './evidence.ts'
import { Reports, ReportTurns } from './model.ts'

const dayMilliseconds = 86_400_000
const shownAtMost = 100
/** The reports of one account in an hour, enough for a raid. */
const reportsAnHour = 60
const hourSeconds = 3_600

type Stored = Record<string, unknown> & Parameters<typeof contentBy>[0]
const reportOutput = ({ _id, subject: _, claimed_by: __, ...row }: Stored) =>
  Report.parse({ id: _id, ...row, message_content_by: contentBy(row) })

export const reports: Action<typeof contract.reports> = async ({ admin, status }, context) => {
  const { account } = signedIn(context)
  const isAdmin = (await roleOf(context.node, account)) !== 'user'
  const whose = admin && isAdmin ? { reported_address: { $ne: account } } : { reporter_address: account }
  const filter = { ...whose, ...(status ? { status } : {}) }
  const rows = await Reports.find(filter).sort({ created_at: -1 }).limit(shownAtMost).lean()
  const shown = rows.map((row) => reportOutput(row))
  // The notes and names of moderators are not for reporters.
  const reports = admin && isAdmin ? shown : shown.map((one) => ({ ...one, admin_notes: null, reviewed_by: null }))
  return { reports, isAdmin }
}

type ReportListener = (context: Pick<Context, 'node' | 'caller'>, id: string) => Promise<void>
const listenersOn = nodeState((): ReportListener[] => [])
/** Subscribes to reports made on this node. */
export const onReport = (node: Node, listener: ReportListener): void => void listenersOn(node).push(listener)

export const report: Action<typeof contract.report> = async (input, context) => {
  const { account } = signedIn(context)
  const { reportedAddress, reportType, alsoBlock } = input
  if (isSameAccount(reportedAddress, account))
    throw new AppError('VALIDATION_ERROR', { message: 'You cannot report yourself' })
  if (!(await accountOf(reportedAddress))) throw new AppError('USER_NOT_FOUND')
  const retryAfter = await context.node.limits.wait('reports-by', account, reportsAnHour, hourSeconds)
  if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
  const now = context.node.now()
  const subject = `${account} ${reportedAddress} ${reportType}`
  const about = await reportSubjectOf(context, account, input)
  const row = {
    _id: newId(),
    subject,
    reporter_address: account,
    reported_address: reportedAddress,
    report_type: reportType,
    description: input.description ?? null,
    ...about,
    status: 'pending',
    created_at: new Date(now).toISOString(),
  }
  await withEvidence(context.node, account, input, async (fields) => {
    await takeReportTurn(subject, now)
    await Reports.create({ ...row, ...fields })
  })
  if (alsoBlock) await blockAccount(context.node, account, reportedAddress, `Reported for ${reportType}`)
  for (const listener of listenersOn(context.node)) await listener(context, row._id)
  const { _id: id, created_at } = row
  return {
    success: true,
    report: {
      id,
      reporter_address: account,
      reported_address: reportedAddress,
      report_type: reportType,
      status: 'pending',
      created_at,
    },
  }
}

/** One report of a kind a day: of simultaneous ones, one succeeds. */
async function takeReportTurn(subject: string, now: number): Promise<void> {
  const turn = { at: now, expires_at: new Date(now + dayMilliseconds) }
  const taken = await ReportTurns.updateOne(
    { _id: subject, at: { $lte: now - dayMilliseconds } },
    { $set: turn },
    { upsert: true },
  ).catch((error: unknown) => {
    if (isDuplicate(error)) return null
    throw error
  })
  if (!taken || taken.matchedCount + taken.upsertedCount === 0)
    throw new AppError('VALIDATION_ERROR', { message: 'You have already reported this user for this reason recently' })
}

export const review: Action<typeof contract.review> = async ({ reportId, status, adminNotes }, context) => {
  const { account } = signedIn(context)
  const reviewed = {
    status,
    reviewed_by: account,
    reviewed_at: new Date(context.node.now()).toISOString(),
    ...(adminNotes === undefined ? {} : { admin_notes: adminNotes }),
  }
  const found = await Reports.findOne({ _id: reportId, reported_address: { $ne: account } }).lean()
  if (!found) throw new AppError('NOT_FOUND', { message: 'Report not found' })
  const before = beforeDecision(found)
  await refuseOverruling(context.node, account, null, before)
  const row = refuseLateDecision(await settleReport(context.node, unchangedFilter(before), reviewed))
  for (const listener of listenersOn(context.node)) await listener(context, reportId)
  const { id, admin_notes, reviewed_at, reviewed_by, status: state } = reportOutput(row)
  return { success: true, report: { id, status: state, admin_notes, reviewed_at, reviewed_by } }
}
