import { errors } from '#shared/errors'

/** Document 2 words it so for agents and streams; the other documents as the table does. */
const ofDocument2 = /^\/api\/(agents|streams|channels\/[^/]+\/agents|channels\/agent-response)(\/|$)/i

/** The answer of a path to callers without a session. */
export const signInText = (path: string): string =>
  ofDocument2.test(path) ? 'Authentication required' : errors.UNAUTHORIZED[1]
