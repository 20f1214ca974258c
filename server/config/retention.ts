import { z } from 'zod'
import type { Retention } from '#server/kernel/context'
import { decimalNumber } from '#server/kernel/settings'

const days = (least: number, most: number) => decimalNumber(z.number().int().min(least).max(most))

/** For how long the server keeps what it stores of people beside their own data; `/docs/retention` shows the descriptions. */
export const retentionVariables = z.object({
  RETENTION_AUDIT_DAYS: days(1, 3_650)
    .default(365)
    .describe('audit lines: who called which audited operation, when, on whom, with what outcome'),
  RETENTION_IP_DAYS: days(1, 30).default(30).describe('IP addresses of sessions'),
  RETENTION_ANALYTICS_DAYS: days(2, 365).default(2).describe('counts of tokens by person and day'),
  RETENTION_DONE_JOBS_DAYS: days(1, 365).default(1).describe('finished jobs, without their content'),
  RETENTION_FAILED_JOBS_DAYS: days(1, 365).default(14).describe('failed jobs, without their content'),
  RETENTION_DELETED_FILES_DAYS: days(1, 30).default(1).describe('uploaded files that nothing shows any more, at most'),
  RETENTION_READ_NOTICES_HOURS: decimalNumber(z.number().int().min(1).max(24))
    .default(24)
    .describe('which push notices a browser was given'),
})

const hourMilliseconds = 3_600_000
const dayMilliseconds = 24 * hourMilliseconds

export function retentionOf(env: z.output<typeof retentionVariables>): { retention: Retention } {
  const rows = Object.entries(retentionVariables.shape).map(([name, { description }]) => {
    const count = env[name as keyof typeof env]
    const unit = name.endsWith('_HOURS') ? 'hour' : 'day'
    return `| ${description} | ${count} ${count === 1 ? unit : `${unit}s`} | \`${name}\` |`
  })
  return {
    retention: {
      auditMilliseconds: env.RETENTION_AUDIT_DAYS * dayMilliseconds,
      ipMilliseconds: env.RETENTION_IP_DAYS * dayMilliseconds,
      analyticsDays: env.RETENTION_ANALYTICS_DAYS,
      jobMilliseconds: {
        done: env.RETENTION_DONE_JOBS_DAYS * dayMilliseconds,
        failed: env.RETENTION_FAILED_JOBS_DAYS * dayMilliseconds,
      },
      deletedFileMilliseconds: env.RETENTION_DELETED_FILES_DAYS * dayMilliseconds,
      readNoticeMilliseconds: env.RETENTION_READ_NOTICES_HOURS * hourMilliseconds,
      table: ['| Data | Kept | Variable |', '| --- | --- | --- |', ...rows, ''].join('\n'),
    },
  }
}
