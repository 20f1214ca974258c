import { errors } from '#shared/errors'

/** Document 2 words it so for agents and streams; the other documents as the table does. */
const ofDocument2 = /^\/api\/(agents|streams|channels\/[^/]+\/agents|channels\/agent-response)(\/|$)/i

/** What a path answers to who is not signed in. */
export const signInText = (path: string): string =>
  ofDocument2.test(path) ? 'Authentication required' : errors.UNAUTHORIZED[1]
