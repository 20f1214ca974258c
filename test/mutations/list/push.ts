import type { Mutation, Suite } from '../mutation.ts'

const told = (title: string): Suite => ({ project: 'embedded', file: 'test/server/push.test.ts', title })
const counted = (title: string): Suite => ({ project: 'embedded', file: 'test/server/push-budget.test.ts', title })
const port = (title: string): Suite => ({ project: 'unit', file: 'test/ports/push.test.ts', title })
const worker: Suite = { project: 'unit', file: 'test/client/notifications.test.ts', title: 'T63' }

/** Whom browsers are told of, by whom, and where they are asked. */
export const push: readonly Mutation[] = [
  {
    name: 'strangers are notified by anybody',
    breaks: 'T63',
    file: 'server/domains/push/send.ts',
    find: 'if (target !== account && !(await friendsAmong(account, [target])).includes(target))',
    put: 'if (target === null)',
    caughtBy: told('is no stranger'),
  },
  {
    name: 'a friend says who they are',
    breaks: 'T63',
    file: 'server/domains/push/send.ts',
    find: 'title: isNamed ? name : targetAddress === account ? title : `${name}: ${title}`',
    put: 'title',
    caughtBy: told('who it is from is said by the server'),
  },
  {
    name: 'a click leads to another site',
    breaks: 'T63',
    file: 'server/domains/push/send.ts',
    find: "if (url?.origin !== site || url.pathname.startsWith('//'))",
    put: 'if (!url)',
    caughtBy: told('is led nowhere else'),
  },
  {
    name: 'the worker opens every site',
    breaks: 'T63',
    file: 'client/web/public/sw.js',
    find: 'if (origin !== location.origin) return',
    put: '',
    caughtBy: worker,
  },
  {
    name: 'browsers subscribe at any host',
    breaks: 'T63',
    file: 'server/ports/push/subscription.ts',
    find: 'hosts.some((host) => isAt(hostname, host))',
    put: 'hosts.length > 0',
    caughtBy: port('asks nobody at'),
  },
  {
    name: 'a signed-out device is told',
    breaks: 'T63',
    file: 'server/domains/push/browsers.ts',
    find: 'return found.filter(({ device }) => signedIn.has(device)).slice(0, browsersAtMost)',
    put: 'return found.slice(0, browsersAtMost)',
    caughtBy: told('once their device is signed out'),
  },
  {
    name: 'browsers are without number',
    breaks: 'T63',
    file: 'server/domains/push/browsers.ts',
    find: 'const browsersAtMost = 10',
    put: 'const browsersAtMost = 100',
    caughtBy: told('are ten of an account'),
  },
  {
    name: 'who is silenced is heard',
    breaks: 'a silenced conversation notifies nobody',
    file: 'server/domains/push/tell.ts',
    find: ' || (room !== null && muteOf(mutes, room, account) !== null)',
    put: '',
    caughtBy: told('not of a conversation that is silenced'),
  },
  {
    name: 'who is blocked is heard in a group',
    breaks: 'a block holds for notifications',
    file: 'server/domains/push/tell.ts',
    find: 'if (isQuiet || blocked.size > 0) return false',
    put: 'if (isQuiet) return false',
    caughtBy: told('not of what somebody blocked says'),
  },
  {
    name: 'a mention reaches who is not in the room',
    breaks: 'members alone are told of what is said in a room',
    file: 'server/domains/push/follow.ts',
    find: 'if (!members.has(account)) newest.delete(account)',
    put: '',
    caughtBy: told('in a channel they are not in'),
  },
  {
    name: 'each node tells of each message',
    breaks: 'a message is told by the node that took it',
    file: 'server/domains/push/follow.ts',
    find: '    if (!isOurs) return\n',
    put: '',
    caughtBy: { ...told('by one node'), project: 'two-nodes-redis', needsMongo: true },
  },
  {
    name: 'a notice that waited is given to who has signed out',
    breaks: 'T63',
    file: 'server/domains/push/notice.ts',
    find: '    if (!(await signedInAmong(node, [row.device])).has(row.device)) return forgetGone(row)\n',
    put: '',
    caughtBy: told('when their device was signed out'),
  },
  {
    name: 'strangers use up what friends are told by',
    breaks: 'T63',
    file: 'server/domains/push/tell.ts',
    find: 'const kind = isOfFriend ? type : `${type} of others`',
    put: 'const kind = type',
    caughtBy: counted('take nothing from friends'),
  },
]
