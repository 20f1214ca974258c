import type { Node } from '#server/kernel/context'
import type { Issues } from '#server/ports/issues/port'
import { AppError } from '#shared/errors'

/** The code host. Throws 500 without one, as the documents have it. */
export function issueHost({ services: { issues } }: Node): Issues {
  if (issues) return issues
  throw new AppError('SERVICE_UNAVAILABLE', {
    status: 500,
    message: 'GitHub is not configured: GITHUB_TOKEN and GITHUB_REPOSITORY are not set',
  })
}

/** Breaks mentions (`@`), about which the code host would notify people. */
export const withoutMentions = (text: string): string => text.replace(/@(?=[\w-])/g, '@\u200b')
