import { refuseSpentDay } from '#server/domains/agents/agent-spending/allowance'
import { agentModel } from '#server/domains/agents/agent-spending/counted-answer'
import { agentAtPublicAddress, closedAgentError, isPublicAgentFor } from '#server/domains/agents/agent-state/access'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { agentOfferOf } from '#server/domains/agents/agents/index'
import { beginAnswer } from '#server/domains/agents/runs/answer'
import { answerLines, answerOf, extrasOfAnswer } from '#server/domains/agents/runs/answer-lines'
import { Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { framesAfter } from '#server/domains/agents/runs/relay'
import type { StoredPayment } from '#server/domains/payments/payments/model'
import {
  busyPaymentError,
  paymentRequiredError,
  purchaseHash,
  repeatedPayment,
  sentPayment,
  whenPaid,
} from '#server/domains/payments/payments/pay'
import { facilitatorFor, offerOfPayment, type PaymentOffer } from '#server/domains/payments/payments/scheme'
import { type HeldPayment, maxAnswers, paymentSummaryOf } from '#server/domains/payments/payments/settle'
import { isUnchargedPayment } from '#server/domains/payments/payments/states'
import { settledHeaders } from '#server/domains/payments/payments/x402'
import type { Action, Context, Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { networks } from '#shared/api/payments/payment-networks'
import type { payments as contract } from '#shared/api/payments/payments'
import { AppError } from '#shared/errors'

/** Paid questions in progress on a node, at most. */
const most = { agent: 128, address: 64 } as const

const takenOf = nodeState(() => new Map<string, number>())

/** Takes a slot of the agent and of the address before any charge, or refuses. Returns the release, which works once. */
export function takeQuestionSlots(node: Node, agent: string, address: string): () => void {
  const taken = takenOf(node)
  const slots = [
    [`agent ${agent}`, most.agent],
    [`address ${address}`, most.address],
  ] as const
  for (const [key, limit] of slots)
    if ((taken.get(key) ?? 0) >= limit) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 1 })
  for (const [key] of slots) taken.set(key, (taken.get(key) ?? 0) + 1)
  let isReleased = false
  return () => {
    if (isReleased) return
    isReleased = true
    for (const [key] of slots) {
      const left = (taken.get(key) ?? 1) - 1
      if (left === 0) taken.delete(key)
      else taken.set(key, left)
    }
  }
}

/** A payment gets its answer again for so long, as chains show payments to everybody. */
const repeatedMilliseconds = 3_600_000

interface Question {
  message: string
  sessionId?: string | undefined
}

interface PaidQuestion extends Question {
  id: string
  payment?: string | undefined
  /** Whether an answer under way is followed; otherwise it is refused. */
  follow?: boolean | undefined
}

interface BegunAnswer {
  agent: StoredAgent
  payment: StoredPayment
  run: StoredRun
}

/** Begins the answer to a paid question. `release` releases its slots. */
async function beginPaidAnswer(
  context: Context,
  { id, payment: header, follow = false, ...question }: PaidQuestion,
): Promise<BegunAnswer & { release: () => void }> {
  const { node, caller } = context
  const agent = await agentAtPublicAddress(id)
  const isOpen = await isPublicAgentFor(caller.account, agent)
  const sent = header === undefined ? null : await sentPayment(node, purchaseOf(agent, question, header))
  // A charged payment is answered, even if the agent has no price or is private by now.
  const charged = sent?.stored && !isUnchargedPayment(sent.stored) ? sent.stored : null
  if (!isOpen && !(charged && sent?.differs === null)) throw closedAgentError(caller.account, agent, 'AGENT_NOT_PUBLIC')
  const offer = (await agentOfferOf(node, agent)) ?? (charged?.agent_id === agent._id ? offerOfPayment(charged) : null)
  if (!offer) throw new AppError('X402_NOT_ENABLED')
  facilitatorFor(node, offer.facts)
  if (!sent) throw paymentRequiredError(context, offer, null)
  const release = takeQuestionSlots(node, agent._id, caller.ip)
  try {
    const repeated = repeatedPayment(context, offer, sent)
    const written = follow && repeated ? await answerUnderWay(agent, repeated) : null
    if (!written && isUnchargedPayment(repeated)) await refuseUnanswerable(node, agent)
    const begun =
      written ??
      (await whenPaid(context, offer, sent, (held) => answerPayment(context, agent, offer, question, held, follow)))
    for (const [name, value] of Object.entries(settledHeaders(networks[begun.payment.network], begun.payment)))
      context.http?.setHeader(name, value)
    return { ...begun, release }
  } catch (error) {
    release()
    throw error
  }
}

const purchaseOf = ({ _id: seller }: StoredAgent, { message, sessionId }: Question, header: string) => ({
  ...{ seller, sessionId, header },
  hash: purchaseHash(seller, message, sessionId ?? null),
})

/** Throws if the agent cannot answer: then nothing is charged. */
async function refuseUnanswerable(node: Node, agent: StoredAgent): Promise<void> {
  agentModel(node, agent)
  await refuseSpentDay(node, agent.owner_address, null)
}

/** The answer under way for a payment, if any. */
async function answerUnderWay(agent: StoredAgent, payment: StoredPayment): Promise<BegunAnswer | null> {
  const { state, run_id } = payment
  const run = state === 'settled' && run_id !== null && (await Runs.findOne({ _id: run_id, state: 'running' }).lean())
  return run ? { agent, payment, run } : null
}

/** Begins the answer of a settled payment, or returns the earlier one unless it failed. */
async function answerPayment(
  context: Context,
  agent: StoredAgent,
  offer: PaymentOffer,
  question: Question,
  held: HeldPayment,
  follow: boolean,
): Promise<BegunAnswer> {
  const { node } = context
  const { run_id } = held.payment
  const last = run_id === null ? null : await Runs.findOne({ _id: run_id }).lean<StoredRun>()
  if (last?.state === 'running' && !follow) throw busyPaymentError(held.payment)
  if (last?.state === 'running') return { agent, payment: held.payment, run: last }
  const isFinal = last?.state === 'done' || (last !== null && held.payment.answers >= maxAnswers)
  if (last && isFinal) {
    if (node.now() - (last.ended_at ?? last.created_at).getTime() > repeatedMilliseconds)
      throw paymentRequiredError(context, offer, 'INVALID_PAYMENT')
    return { agent, payment: held.payment, run: last }
  }
  agentModel(node, agent)
  const number = last ? held.payment.answers + 1 : Math.max(1, held.payment.answers)
  const run = await beginPaidRun(node, agent, question, held, number)
  return { agent, payment: held.payment, run }
}

/** The key of the run is the payment and a number, so that a run is found after a crash. */
async function beginPaidRun(
  node: Node,
  agent: StoredAgent,
  question: Question,
  held: HeldPayment,
  number: number,
): Promise<StoredRun> {
  const { _id, session_id } = held.payment
  await held.change({ answers: number })
  const clientRunId = `${_id}:${number}`
  const place = publicChatPlace(session_id)
  const asked = { agent: agent._id, account: place, place, message: question.message, clientRunId }
  const run = await beginAnswer(node, agent, asked, true)
  node.reached('payment-begun')
  await held.change({ run_id: run._id, message_id: run.message_id })
  return run
}

/** The account and the place of the runs of a public session. No account id has a slash. */
export const publicChatPlace = (session: string) => `public:/${session}`

export const chat: Action<typeof contract.chat> = async (input, context) => {
  const { agent, payment, run, release } = await beginPaidAnswer(context, input)
  try {
    const last = await answerOf(context.node, framesAfter(context.node, run, -1, context.signal))
    const { _id: id, name, avatar_emoji: emoji } = agent
    return {
      success: true as const,
      sessionId: payment.session_id,
      message: last.message,
      agent: { id, name, emoji },
      payment: paymentSummaryOf(payment),
      ...extrasOfAnswer(last),
    }
  } finally {
    release()
  }
}

export const chatStream: Action<typeof contract.chatStream> = async (input, context) => {
  const asked = await beginPaidAnswer(context, input)
  // A sequence that never begins does not release its slots by itself.
  if (context.signal.aborted) asked.release()
  else context.signal.addEventListener('abort', asked.release, { once: true })
  return paidLines(context, asked)
}

async function* paidLines(context: Context, { payment, run, release }: Awaited<ReturnType<typeof beginPaidAnswer>>) {
  try {
    for await (const line of answerLines(framesAfter(context.node, run, -1, context.signal)))
      yield line.type === 'chunk'
        ? line
        : { ...line, sessionId: payment.session_id, payment: paymentSummaryOf(payment) }
  } finally {
    release()
  }
}
