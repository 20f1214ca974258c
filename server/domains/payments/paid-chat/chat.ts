import { refuseSpent } from '#server/domains/agents/agent-spending/allowance'
import { modelOf } from '#server/domains/agents/agent-spending/counted'
import { agentOf, closedTo, isPublicFor } from '#server/domains/agents/agent-state/access'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { offerOf } from '#server/domains/agents/agents/pricing'
import { beginAnswer } from '#server/domains/agents/runs/answer'
import { answerOf, besideText, linesOf } from '#server/domains/agents/runs/ending'
import { framesAfter } from '#server/domains/agents/runs/follow'
import { Runs, type StoredRun } from '#server/domains/agents/runs/model'
import type { HeldPayment } from '#server/domains/payments/payments/lease'
import type { StoredPayment } from '#server/domains/payments/payments/model'
import { purchaseHash, repeatedPayment, sentPayment, whenPaid } from '#server/domains/payments/payments/pay'
import { mostAnswers, paidOf } from '#server/domains/payments/payments/receipts'
import { busyPayment, wantsPayment } from '#server/domains/payments/payments/refuse'
import { facilitatorFor, type Wanted, wantedOf } from '#server/domains/payments/payments/scheme'
import { isUncharged } from '#server/domains/payments/payments/states'
import { settledHeaders } from '#server/domains/payments/payments/x402'
import type { Action, Context, Node } from '#server/kernel/context'
import { networks } from '#shared/api/payment-networks'
import type { payments as contract } from '#shared/api/payments'
import { AppError } from '#shared/errors'
import { takeSlots } from './slots.ts'

/** An answer is repeated for so long to the same payment and question: a chain shows payments to everybody. */
const repeatedMilliseconds = 3_600_000

interface Question {
  message: string
  sessionId?: string | undefined
}

interface Asked extends Question {
  id: string
  payment?: string | undefined
  /** Whether an answer under way is read along; else it is refused. */
  follow?: boolean | undefined
}

interface Begun {
  agent: StoredAgent
  payment: StoredPayment
  run: StoredRun
}

/** Begins the answer to a paid question; `giveBack` gives back the slots that it takes. */
async function ask(
  context: Context,
  { id, payment: header, follow = false, ...question }: Asked,
): Promise<Begun & { giveBack: () => void }> {
  const { node, caller } = context
  const agent = await agentOf(id)
  const isOpen = await isPublicFor(caller.account, agent)
  const sent = header === undefined ? null : await sentPayment(node, purchaseOf(agent, question, header))
  // What is paid is answered, also where the agent has no price or is not public any more.
  const charged = sent?.stored && !isUncharged(sent.stored) ? sent.stored : null
  if (!isOpen && !(charged && sent?.differs === null)) throw closedTo(caller.account, agent, 'AGENT_NOT_PUBLIC')
  const wanted = (await offerOf(node, agent)) ?? (charged?.agent_id === agent._id ? wantedOf(charged) : null)
  if (!wanted) throw new AppError('X402_NOT_ENABLED')
  facilitatorFor(node, wanted.facts)
  if (!sent) throw wantsPayment(context, wanted, null)
  const giveBack = takeSlots(node, agent._id, caller.ip)
  try {
    const repeated = repeatedPayment(context, wanted, sent)
    const written = follow && repeated ? await beingWritten(agent, repeated) : null
    if (!written && isUncharged(repeated)) await refuseUnanswerable(node, agent)
    const begun =
      written ??
      (await whenPaid(context, wanted, sent, (held) => serve(context, agent, wanted, question, held, follow)))
    for (const [name, value] of Object.entries(settledHeaders(networks[begun.payment.network], begun.payment)))
      context.http?.setHeader(name, value)
    return { ...begun, giveBack }
  } catch (error) {
    giveBack()
    throw error
  }
}

const purchaseOf = ({ _id: seller }: StoredAgent, { message, sessionId }: Question, header: string) => ({
  ...{ seller, sessionId, header },
  hash: purchaseHash(seller, message, sessionId ?? null),
})

/** Throws where the agent could not answer: then nothing is charged. */
async function refuseUnanswerable(node: Node, agent: StoredAgent): Promise<void> {
  modelOf(node)
  await refuseSpent(node, agent.owner_address, null)
}

/** The answer under way for a payment, if any. */
async function beingWritten(agent: StoredAgent, payment: StoredPayment): Promise<Begun | null> {
  const { state, run_id } = payment
  const run = state === 'settled' && run_id !== null && (await Runs.findOne({ _id: run_id, state: 'running' }).lean())
  return run ? { agent, payment, run } : null
}

/** Begins the answer of a settled payment, or returns the one that was begun: another one only after a failure. */
async function serve(
  context: Context,
  agent: StoredAgent,
  wanted: Wanted,
  question: Question,
  held: HeldPayment,
  follow: boolean,
): Promise<Begun> {
  const { node } = context
  const { run_id } = held.payment
  const last = run_id === null ? null : await Runs.findOne({ _id: run_id }).lean<StoredRun>()
  if (last?.state === 'running' && !follow) throw busyPayment(held.payment)
  if (last?.state === 'running') return { agent, payment: held.payment, run: last }
  const isFinal = last?.state === 'done' || (last !== null && held.payment.answers >= mostAnswers)
  if (last && isFinal) {
    if (node.now() - (last.ended_at ?? last.created_at).getTime() > repeatedMilliseconds)
      throw wantsPayment(context, wanted, 'INVALID_PAYMENT')
    return { agent, payment: held.payment, run: last }
  }
  modelOf(node)
  const number = last ? held.payment.answers + 1 : Math.max(1, held.payment.answers)
  const run = await beginPaid(node, agent, question, held, number)
  return { agent, payment: held.payment, run }
}

/** The key of the run is the payment and a number, so that a run is found again after a crash at any moment. */
async function beginPaid(
  node: Node,
  agent: StoredAgent,
  question: Question,
  held: HeldPayment,
  number: number,
): Promise<StoredRun> {
  const { _id, session_id } = held.payment
  await held.change({ answers: number })
  const clientRunId = `${_id}:${number}`
  const place = placeOf(session_id)
  const asked = { agent: agent._id, account: place, place, message: question.message, clientRunId }
  const run = await beginAnswer(node, agent, asked, true)
  node.reached('payment-begun')
  await held.change({ run_id: run._id, message_id: run.message_id })
  return run
}

/** Both the account and the place of the runs of a session: no account has a slash in its id. */
export const placeOf = (session: string) => `public:/${session}`

export const chat: Action<typeof contract.chat> = async (input, context) => {
  const { agent, payment, run, giveBack } = await ask(context, input)
  try {
    const last = await answerOf(context.node, framesAfter(context.node, run, -1, context.signal))
    const { _id: id, name, avatar_emoji: emoji } = agent
    return {
      success: true as const,
      sessionId: payment.session_id,
      message: last.message,
      agent: { id, name, emoji },
      payment: paidOf(payment),
      ...besideText(last),
    }
  } finally {
    giveBack()
  }
}

export const chatStream: Action<typeof contract.chatStream> = async (input, context) => {
  const asked = await ask(context, input)
  // A sequence that is never begun has no end of its own.
  if (context.signal.aborted) asked.giveBack()
  else context.signal.addEventListener('abort', asked.giveBack, { once: true })
  return paidLines(context, asked)
}

async function* paidLines(context: Context, { payment, run, giveBack }: Awaited<ReturnType<typeof ask>>) {
  try {
    for await (const line of linesOf(framesAfter(context.node, run, -1, context.signal)))
      yield line.type === 'chunk' ? line : { ...line, sessionId: payment.session_id, payment: paidOf(payment) }
  } finally {
    giveBack()
  }
}
