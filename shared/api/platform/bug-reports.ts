import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import {
  afterCursor,
  CallerAddress,
  Id,
  isVisible,
  Link,
  nextCursor,
  onceByKey,
  pageSize,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'
import { issueTextLength, MadeIssue, ofCodeHost } from './issues.ts'

export const bugCategories = [
  'Agents',
  'Friends',
  'Calls',
  'Chats',
  'Rooms',
  'Livestream',
  'Settings',
  'Configuration',
  'Other',
] as const
export const bugStates = ['open', 'in_progress', 'resolved', 'closed'] as const
export type BugState = (typeof bugStates)[number]

/** Code points of a description, and of how the fault is met again. */
export const bugTextLength = 5_000
export const bugFilesAtMost = 10

export const BugReport = z.object({
  id: z.string(),
  user_address: z.string(),
  category: z.string(),
  description: z.string(),
  replication_steps: z.string().nullable(),
  /** What the reporter has uploaded for it; none once it is closed. */
  media_urls: z.array(Link),
  status: z.enum(bugStates),
  admin_notes: z.string().nullable(),
  resolved_by: z.string().nullable(),
  resolved_at: Time.nullable(),
  github_issue_url: Link.nullable(),
  github_issue_number: z.number().int().nullable(),
  created_at: Time,
  updated_at: Time,
})
export type BugReport = z.infer<typeof BugReport>

const ofAdmins = { access: 'admin', limit: 'general', cost: 'cheap', errorBody: 'text' } as const

/** Faults of the service, as people report them to its admins. */
export const bugReports = {
  send: operation({
    summary: 'Report a fault to the admins, with what shows it: files of `POST /api/bug-reports/upload`.',
    http: 'POST /api/bug-reports',
    socket: '/notifications bug-report:send',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      userAddress: CallerAddress,
      category: z.enum(bugCategories, { error: `category: one of ${bugCategories.join(', ')}` }),
      description: text(bugTextLength, 'description is required').refine(isVisible, {
        error: 'description is required',
      }),
      replicationSteps: text(bugTextLength).nullish(),
      mediaUrls: z
        .array(z.string().max(1_000).meta({ format: 'uri' }))
        .max(bugFilesAtMost)
        .nullish(),
    }),
    output: z.object({ success: z.literal(true), bugReport: BugReport }),
  }),
  list: operation({
    ...ofAdmins,
    summary: 'What people have reported, newest first.',
    http: 'GET /api/admin/bug-reports',
    socket: '/moderation bug-report:list',
    input: z.object({ status: z.enum(bugStates).optional(), limit: pageSize(100, 50), ...afterCursor }),
    output: z.object({ success: z.literal(true), bugReports: z.array(BugReport), ...nextCursor }),
  }),
  update: operation({
    ...ofAdmins,
    summary:
      'Say how far a report is. `resolved` names who resolved it, `open` and `in_progress` take that back, and `closed` removes its files for good.',
    http: 'PATCH /api/admin/bug-reports/:id',
    socket: '/moderation bug-report:update',
    input: z.object({
      id: Id,
      status: z.enum(bugStates, { error: 'Invalid status' }),
      /** Null takes them away; left out, they stay. */
      adminNotes: text(2_000).nullish(),
      /** Of `resolved`: is written under its issue, which is closed, soon after the answer. */
      githubComment: text(issueTextLength).nullish(),
    }),
    output: z.object({ success: z.literal(true), bugReport: BugReport }),
    errors: ['NOT_FOUND'],
    audit: true,
  }),
  openIssue: operation({
    ...ofAdmins,
    ...ofCodeHost,
    summary: 'Open an issue for a report at the code host, without who reported it and their files.',
    http: 'POST /api/admin/bug-reports/:id/github',
    socket: '/moderation bug-report:open-issue',
    repeat: 'harmless',
    input: z.object({ id: Id }),
    output: z.object({ success: z.literal(true), bugReport: BugReport, githubIssue: MadeIssue }),
    errors: [...ofCodeHost.errors, 'NOT_FOUND'],
    audit: true,
  }),
}
