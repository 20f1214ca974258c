import { createHash, randomUUID } from 'node:crypto'
import { Payments, refusedMilliseconds, type StoredPayment } from '#server/domains/receipts/model'
import { networkNamed, type Wanted } from '#server/domains/receipts/networks'
import type { Context, Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { readBack } from '#server/kernel/read-back'
import { isDuplicate } from '#server/ports/database/port'
import type { Proof } from '#server/ports/facilitator/port'
import { AppError } from '#shared/errors'
import { claim, giveBack, type Held, holding, newLease } from './lease.ts'
import { readProof } from './read-proof.ts'
import { inProgress, offeredOtherwise, pending, wantsPayment } from './refuse.ts'
import { chainOf, offerAgain, settleHeld, verifyHeld, wantedOf } from './settle.ts'
import { endOfProof, isOver, sealedProof } from './stored-proof.ts'
import { judgeProof } from './verify.ts'

/** Something to be paid for, and the header that it is paid with. */
export interface Purchase {
  /** Who or what sells it: the id of an agent, or another name for what is no agent. */
  seller: string
  /** What is paid for, by `purchaseHash`: the same payment for anything else is refused. */
  hash: string
  sessionId?: string | undefined
  payment: string
  /** Throws where it could not be given: then nothing is charged. */
  refuseUnserved(): Promise<void>
  /** Keeps it for a payment that was verified, so that nothing refuses it once that is settled. Throws where it is not to be had: then nothing is charged. */
  hold?(payment: StoredPayment): Promise<unknown>
  /** Lets go of what was kept for a payment that was rejected. */
  letGo?(payment: StoredPayment): Promise<unknown>
}

/** How what was paid for is done. */
interface Serving<Done> {
  /** Null where the payment has to be taken first; several may read what is being done at the same time. */
  along(payment: StoredPayment): Promise<Done | null>
  /** Called while nobody else works on the payment. */
  serve(held: Held): Promise<Done>
}

const hashOf = (...parts: readonly unknown[]) => createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/** By what a purchase is known: all that makes it another one. */
export const purchaseHash = hashOf

/**
 * Verifies and settles the payment of a purchase, and then does what was paid for, while nobody else works on this payment. Throws 402
 * where it is not paid, 202 where it is not known yet whether it is, and 409 where another request has the same payment, or it was
 * offered for something else.
 */
export async function whenPaid<Done>(
  context: Context,
  wanted: Wanted,
  purchase: Purchase,
  { along, serve }: Serving<Done>,
): Promise<Done> {
  const { node } = context
  const found = await offeredBefore(context, wanted, purchase)
  const served = found && (await along(found.known))
  if (served) return served
  const payment = found ? await take(context, wanted, purchase, found) : await reserve(context, wanted, purchase)
  return holding(node, payment, async (held) => {
    node.reached('payment-reserved')
    if (held.payment.state === 'verifying') await verifyHeld(node, held)
    if (held.payment.state === 'verifying') await purchase.hold?.(held.payment)
    if (held.payment.state === 'verifying' || isDue(node, held.payment)) await settleHeld(node, held)
    const { state, code } = held.payment
    if (state === 'rejected') await purchase.letGo?.(held.payment)
    if (state === 'unknown') throw pending(node, held.payment)
    if (state !== 'settled') throw wantsPayment(context, wanted, code)
    return serve(held)
  })
}

const isDue = (node: Node, { state, due_at }: StoredPayment) => state === 'unknown' && due_at.getTime() <= node.now()

interface Offered {
  known: StoredPayment
  offered: NonNullable<ReturnType<typeof readProof>>
}

/** The stored payment of a header, by its payer and nonce, and what the header says; null where it is new. */
async function knownPayment(header: string): Promise<Offered | null> {
  const offered = readProof(header)
  const network = networkNamed(offered?.network ?? '')?.network
  if (!offered || !network) return null
  const { from: payer, nonce } = offered.authorization
  const known = await Payments.findOne({ network, payer, nonce }).lean<StoredPayment>()
  return known && { known, offered }
}

/** What the payment of a header was offered for, also where the seller has no price any more: what is paid is answered. */
export async function wantedBefore(seller: string, header: string): Promise<Wanted | null> {
  const { known } = (await knownPayment(header)) ?? {}
  if (!known || known.agent_id !== seller || (known.state !== 'settled' && known.state !== 'unknown')) return null
  return wantedOf(known)
}

/** The payment that was offered for this very purchase before, however far it is; null where there is none. */
export async function offeredFor(purchase: Pick<Purchase, 'hash' | 'payment'>): Promise<StoredPayment | null> {
  const found = await knownPayment(purchase.payment)
  return found !== null && isSame(purchase, found) ? found.known : null
}

/** The same, where the purchase was made by it, or may have been. */
export async function paidBefore(purchase: Pick<Purchase, 'hash' | 'payment'>): Promise<StoredPayment | null> {
  const known = await offeredFor(purchase)
  return known !== null && ['settled', 'unknown'].includes(known.state) ? known : null
}

const isSame = ({ hash }: Pick<Purchase, 'hash'>, found: Offered): boolean =>
  isItself(found) && found.known.question_hash === hash

/** Whether the header is the payment that is stored, and no other with its nonce. */
const isItself = ({ known, offered: { authorization, signature } }: Offered): boolean =>
  known.proof_hash === hashOf(authorization, signature)

/** The record of a payment that was offered before, for the same purchase; null where it is new. */
async function offeredBefore(context: Context, wanted: Wanted, purchase: Purchase): Promise<Offered | null> {
  const found = await knownPayment(purchase.payment)
  if (!found) return null
  const { known } = found
  if (!isItself(found)) throw wantsPayment(context, wanted, 'INVALID_PAYMENT')
  if (known.state === 'rejected') throw wantsPayment(context, wanted, known.code)
  if (!isSame(purchase, found)) throw offeredOtherwise()
  return found
}

/** Takes a payment that was offered before to work on it, and seals it anew, as the key of then may be gone. */
async function take(
  context: Context,
  wanted: Wanted,
  purchase: Purchase,
  { known, offered }: Offered,
): Promise<StoredPayment> {
  const { node } = context
  if (known.state === 'verifying') await purchase.refuseUnserved()
  const mine = await claim(node, known, { proof: sealedProof(node, offered) })
  if (!mine) throw known.state === 'unknown' && known.attempts > 1 ? pending(node, known) : inProgress(known)
  if (mine.state !== 'verifying' && !mine.withdrawn) return mine
  const judged = await judge(node, purchase, wanted)
  if (mine.state !== 'verifying') {
    // One that is over charges nothing any more, but whoever carries it out may tell that it did.
    if (judged.ok || isOver(node, mine)) await offerAgain(mine)
    return mine
  }
  if (judged.ok) return mine
  await giveBack(mine)
  throw wantsPayment(context, wanted, judged.code)
}

const judge = (node: Node, { payment }: Purchase, wanted: Wanted) =>
  judgeProof(payment, wanted, node.now(), chainOf(node, wanted.facts))

/** Stores a payment that is new and good by itself, before anybody else is asked: of several at once one stores it. */
async function reserve(context: Context, wanted: Wanted, purchase: Purchase): Promise<StoredPayment> {
  const { node } = context
  await purchase.refuseUnserved()
  const judged = await judge(node, purchase, wanted)
  if (!judged.ok) throw wantsPayment(context, wanted, judged.code)
  const payment = newPayment(node, wanted, purchase, judged.proof)
  try {
    await Payments.create(payment)
    return payment
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const { network, payer, nonce } = payment
    const first = await readBack(() => Payments.findOne({ network, payer, nonce }).lean<StoredPayment>())
    // A write of unknown fate may have been made again: then it is ours.
    if (first?.holder === payment.holder) return payment
    throw first ? inProgress(first) : new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
  }
}

const newPayment = (
  node: Node,
  { facts, payTo, resource, description }: Wanted,
  { seller, hash, sessionId }: Purchase,
  proof: Proof,
): StoredPayment => ({
  _id: newId(),
  network: facts.network,
  payer: proof.authorization.from,
  nonce: proof.authorization.nonce,
  agent_id: seller,
  pay_to: payTo,
  value: proof.authorization.value,
  proof_hash: hashOf(proof.authorization, proof.signature),
  question_hash: hash,
  proof: sealedProof(node, proof),
  usable_until: endOfProof(proof),
  resource,
  description,
  session_id: sessionId ?? randomUUID(),
  state: 'verifying',
  code: null,
  transaction: null,
  simulated: false,
  attempts: 0,
  answers: 0,
  run_id: null,
  message_id: null,
  ...newLease(node),
  due_at: new Date(node.now()),
  expires_at: new Date(node.now() + refusedMilliseconds),
  created_at: new Date(node.now()),
  settled_at: null,
})
