import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Time } from '#shared/kit/primitives'

export const periods = ['24h', '7d', '30d', '90d', '365d'] as const
export type Period = (typeof periods)[number]

const figure = z.number().int()

const Summary = z.object({
  totalUsers: figure,
  newUsersCount: figure,
  /** Who has signed in since the start of the period. */
  activeUsers: figure,
  totalPasskeys: figure,
  totalAgents: figure,
  newAgentsCount: figure,
  publicAgents: figure,
  friendsAgents: figure,
  privateAgents: figure,
  officialAgents: figure,
  /** Questions to agents, in rooms too, whatever became of them. */
  totalAgentMessages: figure,
  agentMessagesInPeriod: figure,
  knowledgeItemsCount: figure,
  /** In the period, as are the two after it; those that are gone since are not counted. */
  groupsCreated: figure,
  channelsCreated: figure,
  streamsCreated: figure,
})
export type AnalyticsSummary = z.infer<typeof Summary>

const Bucket = z.object({
  /** Where it begins. */
  date: Time,
  /** The same for people, in UTC: an hour, a day, or a month. */
  label: z.string(),
  newUsers: figure,
  groups: figure,
  agents: figure,
  agentChats: figure,
})
export type AnalyticsBucket = z.infer<typeof Bucket>

export const analytics = {
  read: operation({
    summary:
      'What can be counted of the installation, as of at most a minute ago. What is not kept in a form that can be counted is left out, and is never 0.',
    http: 'GET /api/admin/analytics',
    socket: '/moderation analytics:read',
    access: 'admin',
    limit: 'general',
    errorBody: 'text',
    input: z.object({ period: z.enum(periods, { error: `period: one of ${periods.join(', ')}` }).default('7d') }),
    output: z.object({
      summary: Summary,
      timeSeries: z.array(Bucket),
      period: z.enum(periods),
      startDate: Time,
      endDate: Time,
    }),
  }),
}
