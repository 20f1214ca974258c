import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { CallerAddress, Id, Link, pageSize, Time } from '#shared/kit/primitives'

/** What points are given for once in the life of an account, on request. */
export const pointsActions = [
  'phone_verified',
  'email_verified',
  'five_friends',
  'ens_primary',
  'username_claimed',
  'social_added',
] as const
export type PointsAction = (typeof pointsActions)[number]

export const dailyPoints = 3

/** A leaderboard is at most so long. */
export const ranksAtMost = 100

const daysOf = { '24h': 1, day: 1, daily: 1, '7d': 7, week: 7, weekly: 7, '30d': 30, month: 30, monthly: 30 } as const
const longer = { '90d': 90, '365d': 365, year: 365, yearly: 365, all: null } as const
/** So many days back; null is all time. */
export const leaderboardDays = { ...daysOf, ...longer }
export type LeaderboardPeriod = keyof typeof leaderboardDays
const periods = Object.keys(leaderboardDays) as LeaderboardPeriod[]

/** One gift of points. None is ever taken back, so that what somebody has is the sum of these. */
const Entry = z.object({
  id: z.string(),
  wallet_address: z.string(),
  points: z.number().int(),
  /** In words. */
  reason: z.string(),
  /** `claim` is what it was given for, which an account is given once: an action, `daily_2026-11-27`. */
  metadata: z.object({ claim: z.string() }),
  created_at: Time,
})
export type PointsEntry = z.infer<typeof Entry>

/**
 * `done`: given already. `ready`: given if it is asked for now. `open`: what it is given for is not there yet. `unavailable`: this server
 * cannot look for it.
 */
const State = z.enum(['done', 'ready', 'open', 'unavailable'])
export type PointsState = z.infer<typeof State>

/** Equal points are an equal rank. */
const Ranked = z.object({
  rank: z.number().int(),
  address: z.string(),
  username: z.string().nullable(),
  ensName: z.string().nullable(),
  points: z.number().int(),
})

/** The same by other names. */
const Scored = z.object({
  rank: z.number().int(),
  address: z.string(),
  username: z.string().nullable(),
  display_name: z.string().nullable(),
  avatar_url: Link.nullable(),
  score: z.number().int(),
})

const own = {
  get: operation({
    summary: 'The points of the caller, what they were given for, the newest 50 entries, and what else can be earned.',
    http: 'GET /api/points',
    socket: '/notifications points:get',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: CallerAddress }),
    output: z.object({
      points: z.number().int(),
      /** What can be claimed once, and was; without daily bonuses. */
      claimed: z.record(z.string(), z.literal(true)),
      history: z.array(Entry),
      actions: z.array(z.object({ action: z.enum(pointsActions), points: z.number().int(), state: State })),
    }),
    errorBody: 'text',
  }),
  claim: operation({
    summary:
      'Claim the points for something, once. Where they were given already, or it is not there yet, nothing is given and `success` is false.',
    http: 'POST /api/points',
    socket: '/notifications points:claim',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ address: CallerAddress, action: z.enum(pointsActions, { error: 'Unknown action' }) }),
    output: z.object({
      success: z.boolean(),
      message: z.string(),
      /** Given by this call. */
      points: z.number().int(),
      /** After the call: `done`, `open` if it is not achieved yet, `unavailable` if this server cannot check. */
      state: State,
    }),
    errorBody: 'text',
  }),
  balance: operation({
    summary: 'The points of the caller. They are never spent, so both numbers are the same.',
    http: 'GET /api/points/balance',
    socket: '/notifications points:balance',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: CallerAddress }),
    output: z.object({ address: z.string(), balance: z.number().int(), lifetime_earned: z.number().int() }),
    errorBody: 'text',
  }),
  history: operation({
    summary: 'What the caller was given, newest first; `before` is the id of the last one of the page before.',
    http: 'GET /api/points/history',
    socket: '/notifications points:history',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: CallerAddress, limit: pageSize(100, 50), before: Id.optional() }),
    output: z.object({
      transactions: z.array(
        Entry.pick({ id: true, reason: true, created_at: true }).extend({ amount: z.number().int() }),
      ),
    }),
    errorBody: 'text',
  }),
}

const daily = {
  daily: operation({
    summary: 'Whether the caller can claim the bonus of this day, which ends at midnight UTC.',
    http: 'GET /api/points/daily',
    socket: '/notifications points:daily',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: CallerAddress }),
    output: z.object({
      available: z.boolean(),
      /** The day of the last one, in UTC. */
      lastClaimed: z.iso.date().nullable(),
      nextResetAt: Time,
      points: z.number().int(),
    }),
    errorBody: 'text',
  }),
  claimDaily: operation({
    summary:
      'Claim the bonus of this day, once; where it was claimed already, `success` is false and nothing is given.',
    http: 'POST /api/points/daily',
    socket: '/notifications points:claim-daily',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ address: CallerAddress }),
    output: z.object({
      success: z.boolean(),
      /** Given by this call. */
      points: z.number().int(),
      /** Why nothing was given. */
      error: z.string().optional(),
      nextClaimAt: Time,
    }),
    errorBody: 'text',
  }),
}

const ranks = {
  leaderboard: operation({
    summary:
      'Who has most points, without those who are suspended; `total` is how many have any. With `period`, the points given within it count alone, as of the last minute.',
    http: 'GET /api/leaderboard',
    socket: '/notifications leaderboard:list',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      limit: pageSize(ranksAtMost, 10),
      period: z.enum(periods, { error: `period: one of ${periods.join(', ')}` }).optional(),
    }),
    output: z.object({ leaderboard: z.array(Ranked), entries: z.array(Scored), total: z.number().int() }),
    errorBody: 'text',
  }),
  ownRank: operation({
    summary: 'The place of the caller; null without points, or while suspended.',
    http: 'GET /api/leaderboard/me',
    socket: '/notifications leaderboard:me',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: CallerAddress }),
    output: z.object({ entry: Scored.nullable() }),
    errorBody: 'text',
  }),
}

export const points = { ...own, ...daily, ...ranks }

export const pointsChanged = event('/notifications points:changed', {
  summary: 'You were given points, on this device or another.',
  audience: 'account',
  payload: z.object({
    /** All that you have now. */
    points: z.number().int(),
    entry: Entry,
  }),
})
export const pointsEvents = { pointsChanged }
