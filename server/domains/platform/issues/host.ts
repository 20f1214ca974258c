import type { Node } from '#server/kernel/context'
import type { Issues } from '#server/ports/issues/port'
import { AppError } from '#shared/errors'

/** The code host; 500, as the documents have it, where none is configured. */
export function codeHost({ services: { issues } }: Node): Issues {
  if (issues) return issues
  throw new AppError('SERVICE_UNAVAILABLE', {
    status: 500,
    message: 'GitHub is not configured: GITHUB_TOKEN and GITHUB_REPOSITORY are not set',
  })
}
