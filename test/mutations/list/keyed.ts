import type { Mutation } from '../mutation.ts'
import { answers, creations } from './suites.ts'

const ofAll = `\`\${account} \${operation} \${key}\``
const ofOperation = `\`\${operation} \${key}\``
const ofAccount = `\`\${account} \${key}\``

/** Calls that are done once for each key. */
export const keyed: readonly Mutation[] = [
  {
    name: 'an answer is kept under the key of another account',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: ofAll,
    put: ofOperation,
    caughtBy: creations,
  },
  {
    name: 'an answer is kept under the key of another operation',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: ofAll,
    put: ofAccount,
    caughtBy: creations,
  },
  {
    name: 'a refusal is kept',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: '? Answers.deleteOne(mine)',
    put: "? Answers.updateOne(mine, { $set: { answer: seal(sessionKeys, '{}') } })",
    caughtBy: answers,
  },
  {
    name: 'an answer is kept before the act',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: 'const output = await act(creation_id)',
    put: "await Answers.updateOne(mine, { $set: { answer: seal(sessionKeys, '{}') } })\n      const output = await act(creation_id)",
    caughtBy: answers,
  },
  {
    name: 'an answer is not kept',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: 'await Answers.updateOne(mine, { $set: { answer } })',
    put: 'void answer',
    caughtBy: creations,
  },
  {
    name: 'what a crash left is begun anew, under another id',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: '{ ...there, run, isMine: true }',
    put: '{ ...there, creation_id: newId(), run, isMine: true }',
    caughtBy: answers,
  },
  {
    name: 'what an unknown outcome left is begun anew, under another id',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: ': Answers.updateOne(mine, { $set: { leased_until: new Date(0) } })',
    put: ': Answers.deleteOne(mine)',
    caughtBy: answers,
  },
  {
    name: 'what a crash left is never gone on with',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: 'there.leased_until.getTime() <= now',
    put: 'there.leased_until.getTime() < 0',
    caughtBy: answers,
  },
  {
    name: 'a call is taken over from one who works on it',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: '&& there.leased_until.getTime() <= now',
    put: '',
    caughtBy: answers,
  },
  {
    name: 'a call is taken over by two at once',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: '{ _id: id, run: there.run, answer: { $exists: false } }',
    put: '{ _id: id }',
    caughtBy: answers,
  },
  {
    name: 'the lease of a long call is not renewed',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: 'void renew(mine, node.now()).catch(() => undefined)',
    put: 'undefined',
    caughtBy: answers,
  },
  {
    name: 'the answer of a run that was taken over is kept',
    breaks: 'M48',
    file: 'server/kernel/idempotency.ts',
    find: 'await Answers.updateOne(mine, { $set: { answer } })',
    put: 'await Answers.updateOne({ _id: id }, { $set: { answer } })',
    caughtBy: answers,
  },
]
