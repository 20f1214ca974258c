import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { count, isVisible, Link, line, maybe, onceByKey, repeatable, Time, text } from '#shared/kit/primitives'

/** Code points; the host takes more. */
export const issueTextLength = 20_000

/** In a path, so it comes as a text. */
const number = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, { error: 'number: not the number of an issue' })
  .transform(Number)
export const MadeIssue = z.object({ url: Link, number: z.number().int(), id: z.number().int() })
const Issue = z.object({
  number: z.number().int(),
  title: z.string(),
  state: z.enum(['open', 'closed']),
  labels: z.array(z.string()),
  url: Link,
  created_at: Time,
})

/** Of what asks the code host: 500 where none is configured, and the statuses by which it refuses. */
export const ofCodeHost = {
  errors: ['UPSTREAM_ERROR', 'TIMEOUT'],
  statuses: { SERVICE_UNAVAILABLE: [500, 503], UPSTREAM_ERROR: [403, 404, 410, 422, 502] },
} as const

/** Issues of the repository of this installation, at its code host. */
/** Others might set off what the repository does by itself. */
const issueLabels = ['bug', 'documentation', 'enhancement', 'question'] as const

export const issues = {
  create: operation({
    ...ofCodeHost,
    summary: 'Open an issue, which says which account has asked for it.',
    http: 'POST /api/github/issues',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    errorBody: 'text',
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      title: line(1, 200, 'title is required'),
      body: text(issueTextLength, 'body is required').refine(isVisible, { error: 'body is required' }),
      labels: z.array(z.enum(issueLabels)).max(issueLabels.length).default(['bug']),
    }),
    output: z.object({ success: z.literal(true), issue: MadeIssue }),
  }),
  list: operation({
    ...ofCodeHost,
    summary: 'Issues, newest first, 30 a page.',
    http: 'GET /api/github/issues',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      /** Open ones where none is named. */
      state: maybe(z.enum(['open', 'closed', 'all'])),
      page: count(1, 1_000).default(1),
    }),
    output: z.object({ issues: z.array(Issue) }),
  }),
  read: operation({
    ...ofCodeHost,
    summary: 'One issue.',
    http: 'GET /api/github/issues/:number',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ number }),
    output: z.object({ issue: Issue }),
    errors: [...ofCodeHost.errors, 'NOT_FOUND'],
  }),
  close: operation({
    ...ofCodeHost,
    summary: 'Close an issue, with a comment where one is given.',
    http: 'PATCH /api/github/issues/:number',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ number, comment: text(issueTextLength).nullish() }),
    output: z.object({
      success: z.literal(true),
      issue: z.object({ url: Link, number: z.number().int(), state: z.literal('closed') }),
    }),
    audit: true,
  }),
}
