import type { Mutation, Suite } from '../mutation.ts'

const hooks = (title: string): Suite => ({ project: 'embedded', file: 'test/server/webhooks.test.ts', title })
const retries = (title: string): Suite => ({ project: 'embedded', file: 'test/server/webhook-retries.test.ts', title })

/** Events sent to servers of people, in order, to nobody else, and again until they are taken. */
export const webhooks: readonly Mutation[] = [
  {
    name: 'a webhook is found by anybody',
    breaks: 'N90',
    file: 'server/domains/webhooks/hooks.ts',
    find: 'await Webhooks.findOne({ _id, account })',
    put: 'await Webhooks.findOne({ _id })',
    caughtBy: hooks('is found by who made it alone, over rest'),
  },
  {
    name: 'every moderator may have events sent away',
    breaks: 'N90',
    file: 'server/domains/webhooks/rights.ts',
    find: '!standing.isModerator || standing.rank < ranks.admin || ',
    put: '',
    caughtBy: hooks('is made by owners and admins of all its rooms alone, over rest'),
  },
  {
    name: 'a right that is lost stops nothing',
    breaks: 'N90',
    file: 'server/domains/webhooks/deliver.ts',
    find: '    return await headFor(node, account, room)',
    put: '    return (await node.log.head(room)).seq + 0 * account.length',
    caughtBy: hooks('stops when its maker may not read any more'),
  },
  {
    name: 'what follows does not wait for what was not taken',
    breaks: 'N90',
    file: 'server/domains/webhooks/deliver.ts',
    find: 'const moved = isDead ? await done(node, at, row.seq)',
    put: 'const moved = isDead || attempts === 1 ? await done(node, at, row.seq)',
    caughtBy: retries('an hour of 500 loses nothing'),
  },
  {
    name: 'a redirect of a receiver is followed',
    breaks: 'N90',
    file: 'server/ports/web/guarded.ts',
    find: ' && !onlyStatus && redirects',
    put: ' && redirects',
    caughtBy: hooks('has not taken it, and is not followed'),
  },
  {
    name: 'a receiver that is gone is asked for ever',
    breaks: 'N90',
    file: 'server/domains/webhooks/deliver.ts',
    find: "sent.status === 410 ? 'GONE' : ",
    put: '',
    caughtBy: retries('with 410 stops the webhook'),
  },
  {
    name: 'a secret of before is good for ever',
    breaks: 'N90',
    file: 'server/domains/webhooks/secrets.ts',
    find: ' && previous_until.getTime() > now',
    put: '',
    caughtBy: hooks('is signed with both secrets for a day'),
  },
]
