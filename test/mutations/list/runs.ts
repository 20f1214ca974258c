import type { Mutation, Suite } from '../mutation.ts'

const suite = (title: string): Suite => ({ project: 'embedded', file: 'test/server/runs.test.ts', title })
const between = (title: string): Suite => ({ ...suite(title), project: 'two-nodes', needsMongo: true })
const paid = (title: string): Suite => ({ project: 'embedded', file: 'test/server/payment-guards.test.ts', title })
const log: Suite = { project: 'unit', file: 'test/unit/frame-log.test.ts' }
const runs = 'server/domains/agents/runs'
const payments = 'server/domains/payments'

/** Each frame once and in order for everybody, one end, one charge: where tests had let faults pass. */
export const runFaults: readonly Mutation[] = [
  {
    name: 'what is still at work adds frames after the last one',
    breaks: 'P21',
    file: `${runs}/begin.ts`,
    find: '    stop.abort()\n    write(',
    put: '    write(',
    caughtBy: suite('takes nothing after its end'),
  },
  {
    name: 'a key of another agent gives its run',
    breaks: 'P21',
    file: `${runs}/begin.ts`,
    find: 'first && first.agent_id === agent &&',
    put: 'first &&',
    caughtBy: suite('is for one agent'),
  },
  {
    name: 'frames that no store has taken yet are lost',
    breaks: 'P21',
    file: `${runs}/writer.ts`,
    find: 'if (isNeverSent(error)) return',
    put: 'if (error) return',
    caughtBy: suite('loses no frame and doubles none'),
  },
  {
    name: 'a run that was deleted while it was written has no end on other nodes',
    breaks: 'P21',
    file: `${runs}/relay.ts`,
    find: "log.take(log.frames.length, [{ t: 'cancelled', by: account, partial_message_id: null }])",
    put: 'void account',
    caughtBy: between('its agent is deleted on another node'),
  },
  {
    name: 'a reader on another node leaves its listener behind',
    breaks: 'P21',
    file: `${runs}/relay.ts`,
    find: 'known.readers -= 1',
    put: 'void known',
    caughtBy: between('leaves nothing behind'),
  },
  {
    name: 'a mention whose node dies before it begins is left unanswered',
    breaks: 'P21',
    file: 'server/domains/agents/index.ts',
    find: '      beginWhatWasLeft(node),\n',
    put: '',
    caughtBy: {
      project: 'kill',
      file: 'test/server/mentions.kill.test.ts',
      title: 'with -9 before it begins to answer',
    },
  },
  {
    name: 'who has seen the end of an answer does not find it in the history',
    breaks: 'P21',
    file: `${runs}/settle.ts`,
    find: 'if (!last?.frames.some(isTerminal)) return run',
    put: 'if (last !== undefined) return run',
    caughtBy: { project: 'embedded', file: 'test/server/agents.test.ts', title: 'is whole in the history' },
  },
  {
    name: 'frames that come twice are shown twice',
    breaks: 'P21',
    file: `${runs}/frame-log.ts`,
    find: 'const fresh = frames.slice(this.frames.length - from)',
    put: 'const fresh = frames',
    caughtBy: log,
  },
  {
    name: 'a run is ended over what its node has added meanwhile',
    breaks: 'P21',
    file: `${runs}/sweep.ts`,
    find: 'if (taken.has(run._id)) return',
    put: '',
    caughtBy: suite('has not come further meanwhile'),
  },
  {
    name: 'an agent is told what somebody else said to it',
    breaks: 'T09',
    file: `${runs}/history.ts`,
    find: '{ agent_id, place } : { agent_id, account, place }',
    put: '{ agent_id, place } : { agent_id, place }',
    caughtBy: suite('is that of one person in one place'),
  },
  {
    name: 'who has lost the lease of a payment writes on',
    breaks: 'T30',
    file: `${payments}/lease.ts`,
    find: 'const leaseOf = ({ _id, holder }: StoredPayment) => ({ _id, holder })',
    put: 'const leaseOf = ({ _id }: StoredPayment) => ({ _id })',
    caughtBy: paid('who has lost the lease'),
  },
  {
    name: 'a lease ends while its settlement is under way',
    breaks: 'T30',
    file: `${payments}/lease.ts`,
    find: 'const renewal = setInterval(() => void renew()',
    put: 'const renewal = setInterval(() => void Promise.resolve(renew)',
    caughtBy: paid('takes longer than a lease'),
  },
  {
    name: 'a question that is being answered is answered again for its payment',
    breaks: 'T30',
    file: `${payments}/chat.ts`,
    find: "if (last?.state === 'running' && !follow) throw inProgress(held.payment)\n  if (last?.state === 'running') return { agent, payment: held.payment, run: last }",
    put: '',
    caughtBy: paid('is not answered a second time'),
  },
  {
    name: 'whoever asks has the facilitator asked again',
    breaks: 'T30',
    file: `${payments}/take.ts`,
    find: "state === 'unknown' && due_at.getTime() <= node.now()",
    put: "state === 'unknown' && due_at.getTime() > 0",
    caughtBy: paid('when it is due'),
  },
  {
    name: 'a nonce in other letters is another payment',
    breaks: 'T30',
    file: `${payments}/read-proof.ts`,
    find: 'const Nonce = hex(/^0x[0-9a-fA-F]{64}$/)',
    put: 'const Nonce = z.string().regex(/^0x[0-9a-fA-F]{64}$/).transform((value) => value as Hex)',
    caughtBy: paid('in whatever case'),
  },
]
