import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Time } from '#shared/kit/primitives'

export const periods = ['24h', '7d', '30d', '90d', '365d'] as const
export type Period = (typeof periods)[number]

/** The kinds of accounts; `none` are those that nobody signs in to, of bots and agents. */
export const walletTypes = ['eoa', 'passkey', 'email', 'humanproof_id', 'partner_id', 'none'] as const
export type WalletType = (typeof walletTypes)[number]

/** What `exclude` names: each kind, and those that others know by one word. */
const kindsOf: Readonly<Record<string, readonly WalletType[]>> = {
  ...Object.fromEntries(walletTypes.map((type) => [type, [type]])),
  wallet: ['eoa'],
  digitalid: ['humanproof_id', 'partner_id'],
}
const kindNames = Object.keys(kindsOf)
const anyKind = `(${kindNames.join('|')})`

const Excluded = z
  .string()
  .max(200)
  .regex(new RegExp(`^[\\s,]*(${anyKind}([\\s,]+${anyKind})*[\\s,]*)?$`), {
    error: `exclude: of ${kindNames.join(', ')}, separated by commas`,
  })
  .default('')
  .transform((list) => {
    const named = new Set(list.split(/[\s,]+/).flatMap((name) => kindsOf[name] ?? []))
    return walletTypes.filter((type) => named.has(type))
  })

const figure = z.number().int()

const Summary = z.object({
  totalUsers: figure,
  newUsersCount: figure,
  /** Accounts with a sign-in since the start of the period. */
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
  indexedKnowledgeItems: figure,
  publicProfilesCount: figure,
  /** Accounts whose smart account is fixed. */
  usersWithSmartWallet: figure,
  betaApplicantsCount: figure,
  betaApprovedCount: figure,
  /** Accounts that have requested access, and have none. */
  betaPendingCount: figure,
  totalCalls: figure,
  /** All that were ever given; none is taken back. */
  totalPoints: figure,
  pointsInPeriod: figure,
  acceptedFriendships: figure,
  /** Of the period: those that are open or were accepted. */
  friendRequestsCount: figure,
  /** In the period, as are all that follow. */
  invitesUsed: figure,
  schedulesCreated: figure,
  streamsStarted: figure,
  streamsEnded: figure,
  /** Those that are gone since are not counted, nor are channels and streams. */
  groupsCreated: figure,
  channelsCreated: figure,
  streamsCreated: figure,
})
export type AnalyticsSummary = z.infer<typeof Summary>

/** Messages that were ever sent, in rooms of every kind; left out where there are too many rooms to ask. */
const messages = { totalMessages: figure.optional() }

const Bucket = z.object({
  /** Where it begins. */
  date: Time,
  /** The same for people, in UTC: an hour, a day, or a month. */
  label: z.string(),
  newUsers: figure,
  points: figure,
  /** Accounts that came by an invitation. */
  invites: figure,
  /** Those that are open or were accepted. */
  friendRequests: figure,
  groups: figure,
  agents: figure,
  agentChats: figure,
})
export type AnalyticsBucket = z.infer<typeof Bucket>

const TopAgent = z.object({ id: z.string(), name: z.string(), messageCount: figure })

/** The first entries of the installation, at most ten each, of data that can be listed. */
const lists = {
  topUsers: z.object({
    byPoints: z.array(z.object({ address: z.string(), username: z.string().nullable(), points: figure })),
  }),
  /** Of those that everybody may find. */
  topAgents: z.object({ byMessages: z.array(TopAgent) }),
  agentVisibilityBreakdown: z.array(
    z.object({ visibility: z.enum(['public', 'friends', 'private', 'official']), count: figure }),
  ),
  /** At most a hundred. */
  officialAgentsList: z.array(TopAgent),
  /** What points were ever given for, by the words of the entry. */
  pointsBreakdown: z.array(z.object({ reason: z.string(), points: figure })),
  /** Of the kinds that are not left out. */
  walletTypeBreakdown: z.array(z.object({ type: z.enum(walletTypes), count: figure })),
  /** The newest accounts whose smart account is fixed. */
  recentSmartWalletUsers: z.array(
    z.object({
      address: z.string(),
      username: z.string().nullable(),
      smartWalletAddress: z.string(),
      created_at: Time,
    }),
  ),
}

export const analytics = {
  read: operation({
    summary:
      'What can be counted of the installation, as of at most a minute ago. What is not kept in a form that can be counted is left out, and is never 0.',
    http: 'GET /api/admin/analytics',
    socket: '/moderation analytics:read',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      period: z.enum(periods, { error: `period: one of ${periods.join(', ')}` }).default('7d'),
      /** Kinds of accounts to leave out of counts and lists of accounts; their activity is still counted. */
      exclude: Excluded,
    }),
    output: z.object({
      summary: Summary.extend(messages),
      timeSeries: z.array(Bucket),
      ...lists,
      period: z.enum(periods),
      startDate: Time,
      endDate: Time,
    }),
  }),
}
