import type { Mutation, Suite } from '../mutation.ts'

const told = (title: string): Suite => ({ project: 'embedded', file: 'test/server/calls.test.ts', title })

/** Who may ring whom, and how a call goes on. */
export const calls: readonly Mutation[] = [
  {
    name: 'anybody changes a call whose id they know',
    breaks: 'T09',
    file: 'server/domains/calls/index.ts',
    find: 'if (call && [call.caller_address, call.callee_address].includes(account)) return call',
    put: 'if (call) return call',
    caughtBy: told('nobody else reads or changes'),
  },
  {
    name: 'who is blocked rings',
    breaks: 'a block in either direction refuses calls',
    file: 'server/domains/calls/index.ts',
    find: 'await refuseBlocked(account, calleeAddress)',
    put: '',
    caughtBy: told('a block in either direction'),
  },
  {
    name: 'who is blocked is answered',
    breaks: 'a block in either direction refuses calls',
    file: 'server/domains/calls/index.ts',
    find: "next.status === 'active'",
    put: "next.status === 'ringing'",
    caughtBy: told('a block in either direction'),
  },
  {
    name: 'rings of one person are not counted',
    breaks: 'one person is rung ten times an hour by another',
    file: 'server/domains/calls/index.ts',
    find: 'ringsToOneAnHour, hourSeconds',
    put: 'ringsAnHour, hourSeconds',
    caughtBy: told('rung ten times an hour'),
  },
  {
    name: 'two changes of one call both hold',
    breaks: 'the status of a call moves forward alone',
    file: 'server/domains/calls/index.ts',
    find: 'updateOne({ _id, status, ended_at }, { $set: change })',
    put: 'updateOne({ _id }, { $set: change })',
    caughtBy: told('of many answers and ends at once'),
  },
  {
    name: 'a call goes back',
    breaks: 'the status of a call moves forward alone',
    file: 'server/domains/calls/course.ts',
    find: '!onwards[call.status].includes(status)',
    put: 'onwards[call.status].length > 9',
    caughtBy: told('nothing goes back'),
  },
  {
    name: 'callers answer for who is called',
    breaks: 'only its callee answers or declines a call',
    file: 'server/domains/calls/course.ts',
    find: 'by !== call.callee_address',
    put: "by === ''",
    caughtBy: told('nothing goes back'),
  },
  {
    name: 'a call rings for good',
    breaks: 'a call that nobody answers is missed',
    file: 'server/domains/calls/course.ts',
    find: "status === 'ringing' && now >= rungOut",
    put: "status === 'ringing' && now < 0",
    caughtBy: told('missed after a minute'),
  },
  {
    name: 'a call ends before it began',
    breaks: 'times of calls are sane',
    file: 'server/domains/calls/course.ts',
    find: 'if (ended < from) throw',
    put: 'if (ended < 0) throw',
    caughtBy: told('is refused over both doors'),
  },
]
