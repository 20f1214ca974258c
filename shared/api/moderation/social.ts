import { z } from 'zod'
import { seen } from '#shared/api/rooms/room-paths'
import { operation } from '#shared/kit/contract'
import { Address, Done, Id, onceByKey, repeatable, Time, text } from '#shared/kit/primitives'
import { conversations } from '#shared/kit/room-kinds'

const ConversationType = z.enum(conversations, { error: 'Invalid conversation type' })
const ConversationId = z.string({ error: 'conversationId is required' }).trim().min(1).max(330)

const ConversationMute = z.object({
  id: z.string(),
  user_address: z.string(),
  conversation_type: ConversationType,
  conversation_id: z.string(),
  muted_until: Time.nullable(),
  created_at: Time,
  updated_at: Time,
})
const Block = z.object({
  id: z.string(),
  blocker_address: z.string(),
  blocked_address: z.string(),
  reason: z.string().nullable(),
  created_at: Time,
})
export const reportTypes = [
  'spam',
  'harassment',
  'hate_speech',
  'violence',
  'scam',
  'impersonation',
  'inappropriate_content',
  'other',
] as const
export const reportStatuses = ['pending', 'reviewed', 'action_taken', 'dismissed'] as const
export const Report = z.object({
  id: z.string(),
  reporter_address: z.string(),
  reported_address: z.string(),
  report_type: z.enum(reportTypes),
  description: z.string().nullable(),
  conversation_type: z.string().nullable(),
  conversation_id: z.string().nullable(),
  message_id: z.string().nullable(),
  message_content: z.string().nullable(),
  /** Whose copy of the text it is: the server's own, or what the reporter says the message said. */
  message_content_by: z.enum(['server', 'reporter']).nullable(),
  status: z.enum(reportStatuses),
  admin_notes: z.string().nullable(),
  reviewed_at: Time.nullable(),
  reviewed_by: z.string().nullable(),
  created_at: Time,
})

export const social = {
  mutes: operation({
    summary: 'The conversations the caller has silenced.',
    http: 'GET /api/users/mute',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({}),
    output: z.object({ mutes: z.array(ConversationMute) }),
  }),
  mute: operation({
    summary: 'Silence a conversation. Messages still come; notifications do not.',
    http: 'POST /api/users/mute',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    whileSuspended: 'protects',
    input: z.object({
      conversationType: ConversationType,
      conversationId: ConversationId,
      duration: z.enum(['1h', '8h', '1d', '1w', 'forever'], { error: 'Invalid duration' }).default('forever'),
    }),
    output: z.object({ success: z.literal(true), mute: ConversationMute }),
  }),
  unmute: operation({
    summary: 'Hear of a conversation again.',
    http: 'DELETE /api/users/mute',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'protects',
    input: z.object({ conversationType: ConversationType, conversationId: ConversationId }),
    output: Done,
  }),
  blocks: operation({
    summary: 'Whom the caller has blocked, and who has blocked the caller.',
    http: 'GET /api/users/block',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({}),
    output: z.object({ blockedUsers: z.array(Block), blockedBy: z.array(z.string()) }),
  }),
  block: operation({
    summary: 'Block somebody. Holds in both directions, at once.',
    http: 'POST /api/users/block',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    audit: true,
    whileSuspended: 'protects',
    input: z.object({ userAddress: Address, reason: text(500).nullish() }),
    output: z.object({ success: z.literal(true), block: Block }),
    errors: ['USER_NOT_FOUND'],
  }),
  unblock: operation({
    summary: 'Lift a block of your own.',
    http: 'DELETE /api/users/block',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    audit: true,
    whileSuspended: 'protects',
    input: z.object({ userAddress: Address }),
    output: Done,
  }),
  reports: operation({
    summary: 'Your own reports; with `admin` and the right to it, everybody’s.',
    http: 'GET /api/users/report',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      admin: z.boolean().optional(),
      status: z.enum(reportStatuses, { error: 'Invalid status' }).optional(),
    }),
    output: z.object({ reports: z.array(Report), isAdmin: z.boolean() }),
  }),
  report: operation({
    summary: 'Report somebody to the moderators. A room is named by those who can read it.',
    http: 'POST /api/users/report',
    socket: '/rooms report:create',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    audit: true,
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      reportedAddress: Address,
      reportType: z.enum(reportTypes, { error: 'Invalid report type' }),
      description: text(2_000).nullish(),
      conversationType: ConversationType.nullish(),
      conversationId: ConversationId.nullish(),
      messageId: Id.nullish(),
      messageContent: text(1_000).nullish(),
      /** The answer of `uploads.evidence` for this message's media. */
      evidence: z
        .string()
        .regex(/^\w{1,60}\.\w{1,5}$/, { error: 'evidence: none that you handed in for this message' })
        .nullish(),
      alsoBlock: z.boolean().default(false),
    }),
    output: z.object({
      success: z.literal(true),
      report: Report.pick({
        id: true,
        reporter_address: true,
        reported_address: true,
        report_type: true,
        status: true,
        created_at: true,
      }),
    }),
    errors: ['USER_NOT_FOUND', ...seen],
  }),
  review: operation({
    summary: 'Decide a report. Admins only.',
    http: 'PATCH /api/users/report',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    audit: true,
    input: z.object({
      reportId: Id,
      status: z.enum(reportStatuses, { error: 'Invalid status' }),
      adminNotes: text(2_000).nullish(),
    }),
    output: z.object({
      success: z.literal(true),
      report: Report.pick({ id: true, status: true, admin_notes: true, reviewed_at: true, reviewed_by: true }),
    }),
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
}
