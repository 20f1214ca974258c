import type { Mutation } from '../mutation.ts'
import { evidenceOf } from './suites.ts'

/** What is handed in with a report is of the message, is what was sent, and is seen by who decides alone. */
export const evidence: readonly Mutation[] = [
  {
    name: 'evidence of a message that cannot be read is taken',
    breaks: 'T51',
    file: 'server/domains/uploads/evidence.ts',
    find: 'void readBy(view, caller.account, now)',
    put: 'void [view, now, caller, readBy]',
    caughtBy: evidenceOf('cannot read'),
  },
  {
    name: 'evidence of a file that somebody else sent is taken',
    breaks: 'T51',
    file: 'server/domains/uploads/evidence.ts',
    find: '{ _id: key, owner }',
    put: '{ _id: key, ...(owner ? {} : { owner }) }',
    caughtBy: evidenceOf('somebody else sent'),
  },
  {
    name: 'evidence of another salt or file is taken',
    breaks: 'T51',
    file: 'server/domains/uploads/evidence.ts',
    find: 'if (isCommitted && sent',
    put: 'if (!isCommitted && sent',
    caughtBy: evidenceOf('with another salt'),
  },
  {
    name: 'evidence from another conversation is said to be as sent',
    breaks: 'T51',
    file: 'server/domains/uploads/evidence.ts',
    find: "'body.media': sent._id, room, sender",
    put: "'body.media': sent._id, sender",
    caughtBy: evidenceOf('sent to somebody else'),
  },
  {
    name: 'evidence of another message is named by a report',
    breaks: 'T51',
    file: 'server/domains/social/evidence.ts',
    find: "evidence_of: messageId ?? '', ",
    put: '',
    caughtBy: evidenceOf('of another message'),
  },
  {
    name: 'evidence is served at an address',
    breaks: 'T51',
    file: 'server/kernel/files.ts',
    find: 'isKey(key) && !isPrivate(key)',
    put: 'isKey(key) && (!isPrivate(key) || true)',
    caughtBy: evidenceOf('at no address'),
  },
  {
    name: 'evidence is read by anybody',
    breaks: 'T51',
    file: 'server/domains/moderation/queue-items.ts',
    find: 'const seen = item && (await asSeenBy(context.node, signedIn(context).account, item))',
    put: 'const seen = item',
    caughtBy: evidenceOf('by who may decide'),
  },
  {
    name: 'evidence stays after the decision',
    breaks: 'T51',
    file: 'server/domains/social/evidence.ts',
    find: 'if (isClosed) await removeUnnamed(node, named)',
    put: '',
    caughtBy: evidenceOf('until its report is decided'),
  },
  {
    name: 'evidence of an open report is swept away',
    breaks: 'T51',
    file: 'server/domains/social/evidence.ts',
    find: '...one.map(({ evidence_key }) => evidence_key), ',
    put: '',
    caughtBy: evidenceOf('by the sweep'),
  },
]
