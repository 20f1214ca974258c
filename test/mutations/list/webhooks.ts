import type { Mutation, Suite } from '../mutation.ts'

const hooks = (title: string): Suite => ({ project: 'embedded', file: 'test/server/webhooks.test.ts', title })
const retries = (title: string): Suite => ({ project: 'embedded', file: 'test/server/webhook-retries.test.ts', title })
const places = (title: string): Suite => ({ project: 'embedded', file: 'test/server/webhook-places.test.ts', title })
const turns = (title: string): Suite => ({ project: 'embedded', file: 'test/server/webhook-turns.test.ts', title })
const upkeep = (title: string): Suite => ({ project: 'embedded', file: 'test/server/webhook-upkeep.test.ts', title })

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
  {
    name: 'a webhook that is paused keeps its place in its rooms',
    breaks: 'N90',
    file: 'server/domains/webhooks/hooks.ts',
    find: '!hook.enabled || !hook.rooms.includes(room)',
    put: '!hook.rooms.includes(room)',
    caughtBy: places('leaves its place to others'),
  },
  {
    name: 'a webhook that is enabled once more is free for another node',
    breaks: 'N90',
    file: 'server/domains/webhooks/hooks.ts',
    find: 'const going = { ',
    put: 'const going = { holder: null, ',
    caughtBy: turns('has one request open at a time'),
  },
  {
    name: 'receivers that hang take all places',
    breaks: 'N90',
    file: 'server/domains/webhooks/turns.ts',
    find: 'slowAccounts.length >= mostSlow || ',
    put: '',
    caughtBy: { project: 'unit', file: 'test/unit/webhook-turns.test.ts', title: 'leave half of the places to others' },
  },
  {
    name: 'a turn of a webhook has no end',
    breaks: 'N90',
    file: 'server/domains/webhooks/deliver.ts',
    find: 'performance.now() - begun >= turnMilliseconds',
    put: 'false',
    caughtBy: turns('a receiver that is slow gives its turn to others'),
  },
  {
    name: 'what a crash has left of a webhook is kept for ever',
    breaks: 'N90',
    file: 'server/domains/webhooks/sweep.ts',
    find: '  await settle(node)\n',
    put: '',
    caughtBy: upkeep('that a crash has half removed, nothing is kept'),
  },
]
