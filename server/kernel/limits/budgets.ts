import type { Caller, Node } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { nodeState } from '#server/kernel/operate/node-state'
import { briefMemory } from '#server/kernel/store/kept-answers'
import { AppError } from '#shared/errors'
import type { Cost, Operation } from '#shared/kit/contract'

/**
 * The trust in a caller. Each kind has its own budget at an address. Guests and new accounts, which anybody can create,
 * thus take none of the budget of older accounts.
 */
export type CallerKind = 'anonymous' | 'guest' | 'newcomer' | 'regular'

/** A limit of one client's cost, with the words of its row in `docs/security.md`. */
export interface Budget {
  what: string
  countedBy: string
  /** Before the node's scale (`limits.scale`). */
  most: number
  afterwards: string
}

const budget = (most: number, what: string, countedBy: string, afterwards: string): Budget => {
  return { what, countedBy, most, afterwards }
}

const openAnswers = 'Answers that stay open, streams and waits over both doors'
const tooManyOpen = '`RATE_LIMIT_EXCEEDED` with `retryAfter`'

const filesRead = 'Pictures and voice messages that are being parsed, or queued for it'
const tooManyFiles = '`RATE_LIMIT_EXCEEDED` with `retryAfter`'

const named: Record<CallerKind | 'viewer', string> = {
  anonymous: 'of nobody',
  guest: 'of accounts of less than a day that sign with a bare key',
  newcomer: 'of other accounts of less than a day',
  regular: 'of accounts of a day or more',
  viewer: 'that load media of livestreams',
}

const ofAddress = <K extends keyof typeof named>(numbers: Record<K, number>, what: string, afterwards: string) =>
  Object.fromEntries(
    Object.entries<number>(numbers).map(([kind, most]) => [
      kind,
      budget(most, `${what} ${named[kind as K]}`, 'address', afterwards),
    ]),
  ) as Record<K, Budget>

/** The budgets of one client on this node. */
export const budgets = {
  requestsOfAddress: budget(
    1_200,
    'Requests over HTTP of every method and path, handshakes among them',
    'address and minute; beyond that requests with a session, by account and minute',
    '429 with `Retry-After`, before anything is looked up',
  ),
  refusedRequests: budget(
    5,
    'Answers 429, of whatever budget',
    'connection',
    'the connection is closed, except that of a trusted proxy',
  ),
  looksOfAddress: budget(
    600,
    'Sessions that are looked up for requests beyond that; a result is cached for five minutes',
    'address and minute',
    'the request is refused',
  ),
  mediaOfAddress: budget(
    500,
    'Requests for existing HLS and recordings; others count among all requests',
    'address and second',
    '429 with `Retry-After`',
  ),
  offersOfAddress: budget(
    100,
    'Offers of WebRTC, and what belongs to them',
    'address and 20 seconds',
    '429 with `Retry-After`, for less time than a lost publisher has to come back',
  ),
  waitingRequests: budget(
    100,
    'Requests that wait behind another one (pipelining)',
    'connection',
    'later ones are not answered, the connection is closed, and its address opens no other for 10 seconds',
  ),
  openedOfAddress: budget(200, 'Connections opened', 'address and second', 'the connection is closed unread'),
  connectionsOfAddress: ofAddress(
    { anonymous: 50, guest: 200, newcomer: 200, regular: 1_000, viewer: 300 },
    'Connections',
    'an idle one makes room, or one of the holder of most; else it is closed',
  ),
  handshakesOfAddress: budget(
    60,
    'Handshakes of Socket.IO',
    'address and minute; with a session, by account and minute',
    '429 with `Retry-After`',
  ),
  handshakes: budget(200, 'Handshakes of Socket.IO', 'node and second', '429 with `Retry-After`'),
  packets: budget(
    300,
    'Packets of every kind, in all namespaces together',
    'connection and second',
    'the connection is closed',
  ),
  bytes: budget(4_194_304, 'Bytes of these packets', 'connection and second', 'the connection is closed'),
  bytesOfAddress: budget(
    8_388_608,
    'Bytes of the packets of all its connections',
    'address and second',
    'the connection that sent the last one is closed',
  ),
  largePackets: budget(
    10,
    'Packets of more than 128 kB, which are events that are too long',
    'connection and minute',
    'the connection is closed',
  ),
  events: budget(30, 'Events, in all namespaces together', 'connection and second', '`RATE_LIMIT_EXCEEDED`'),
  refusedEvents: budget(
    300,
    'Refused events of every kind',
    'connection and minute',
    'the connection is closed after the answer',
  ),
  connects: budget(30, 'CONNECTs to a namespace, refused or not', 'connection and minute', 'the connection is closed'),
  refusals: budget(10, 'CONNECTs that are refused', 'connection', 'the connection is closed'),
  connectsOfAddress: budget(
    600,
    'CONNECTs whose token is checked',
    'address and minute',
    'one token of each connection is checked, and each session has as many of its own; else `RATE_LIMIT_EXCEEDED`',
  ),
  adminProofs: budget(
    120,
    'Requests with the message of an admin in their headers, which is verified each time',
    'address and minute',
    '429 with `Retry-After`',
  ),
  chainQuestionsFrom: budget(
    10,
    'Questions to a chain about such headers, except for a message that it has accepted here before',
    'address and minute',
    '429 with `Retry-After`; a message signed by a key, or of a wallet of no admin, asks none',
  ),
  chainQuestionsOf: budget(
    30,
    'The same about one wallet',
    'wallet and minute',
    '429 with `Retry-After`; a message signed by a key, or of a wallet of no admin, asks none',
  ),
  groupInvitations: budget(100, 'People asked into groups', 'account and hour', '`RATE_LIMIT_EXCEEDED`'),
  groupInvitationsToOne: budget(
    3,
    'Open invitations to groups, or those that ended within a day of their notification',
    'inviter and invited',
    'answered as if sent; the invited is not notified',
  ),
  groupInvitationsOfOne: budget(
    100,
    'Open invitations to groups',
    'invited',
    'the oldest from an inviter without a shared closed room ends, or the oldest of all; the inviter is answered as if sent',
  ),
  costsOfAddress: budget(
    600,
    'Calls by which costly calls are paid, beyond the calls themselves',
    'address and minute',
    '`RATE_LIMIT_EXCEEDED`',
  ),
  placesOfAccount: budget(10, 'Rooms of places that are founded', 'account and hour', tooManyOpen),
  placesOfAddress: budget(60, 'Rooms of places that are founded', 'address and hour', tooManyOpen),
  costlyAtOnce: budget(2, 'Costly calls that are worked on at once', 'address', 'the others wait in their order'),
  sockets: budget(10, 'Sockets in a namespace', 'account', 'the oldest is closed'),
  filesOfAccount: budget(8, filesRead, 'account', tooManyFiles),
  filesOfAddress: ofAddress({ guest: 16, newcomer: 16, regular: 64 }, `${filesRead},`, tooManyFiles),
  answersOfConnection: budget(24, openAnswers, 'connection', tooManyOpen),
  answersOfAccount: budget(32, openAnswers, 'account', tooManyOpen),
  answersOfAddress: ofAddress({ anonymous: 50, guest: 128, newcomer: 128, regular: 512 }, openAnswers, tooManyOpen),
} as const satisfies Record<string, Budget | Record<string, Budget>>

/** A budget at the scale of a node, at least one. */
export const scaledBudget = ({ most }: Budget, scale: number): number => Math.max(1, Math.ceil(most * scale))

/** The most calls that one call costs, so that callers with thousands of rooms still get an answer. */
const callsAtMost = 25

/** The number of calls that a call costs for so many units. */
function callsFor(cost: Exclude<Cost, string>, count: number): number {
  const ofACall = 'rooms' in cost ? cost.rooms : cost.messages
  return Math.min(Math.ceil(count / ofACall), callsAtMost)
}

/**
 * Counts the units that a call reads. Costs beyond the call itself are taken from the buckets of the caller and the
 * address. An empty bucket refuses.
 */
export function costMeterOf(
  { limits }: Pick<Node, 'limits'>,
  { cost, limit }: Operation,
  { account, ip }: Pick<Caller, 'account' | 'ip'>,
): (count: number) => Promise<void> {
  let counted = 0
  let paid = 1
  return async (count) => {
    if (typeof cost === 'string') throw new Error(`An operation that is declared as ${cost} has charged`)
    counted += count
    for (; paid < callsFor(cost, counted); paid++) {
      const { rate, retryAfterSeconds } = await limits.spend(limit, account ?? ip)
      if (retryAfterSeconds !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: retryAfterSeconds, rate })
      const retryAfter = await limits.wait('costs', ip, budgets.costsOfAddress.most, 60)
      if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
    }
  }
}

interface Turns {
  run: ReturnType<typeof fewAtOnce>
  waiting: number
}
const turnsOn = nodeState(() => new Map<string, Turns>())

/** Runs costly work: few at once for each address, the others in the order of their calls. */
export async function runCostlyCall<T>(
  node: Pick<Node, 'state' | 'limits'>,
  ip: string,
  work: () => Promise<T>,
): Promise<T> {
  const turns = turnsOn(node)
  const own = turns.get(ip) ?? { run: fewAtOnce(scaledBudget(budgets.costlyAtOnce, node.limits.scale)), waiting: 0 }
  turns.set(ip, own)
  own.waiting += 1
  try {
    return await own.run(work)
  } finally {
    own.waiting -= 1
    if (own.waiting === 0) turns.delete(ip)
  }
}

/** The free steps of each judged text, besides those of reading it. */
export const freeSteps = 500_000
/** The steps beyond them for which one call pays: 1.3 ms of a processor. */
export const stepsOfACall = 250_000
/** The steps for which an account's running calls pay at most; a refusal is judged again on a fresh view. */
const mostOwed = 3 * callsAtMost * stepsOfACall
/** All steps of a text while a budget is spent. The longest prose takes fewer. */
const stepsWhileSpent = 2_000_000

/** The unpaid judgements of one account's running calls. */
interface JudgingDebt {
  calls: number
  steps: number
  /** Those of the steps that are being paid. */
  paying: number
  /** The time at which the account and its address can pay again. */
  spentUntil: number
}

const mostSpentAddresses = 10_000
const judgingOn = nodeState(() => ({
  debts: new Map<string, JudgingDebt>(),
  spent: briefMemory<number>(mostSpentAddresses),
}))

type JudgingNode = Pick<Node, 'state' | 'limits' | 'now'>

/** The seconds until the texts of this account may take more than the free steps; null if they may now. */
function waitOf(node: JudgingNode, { steps, spentUntil }: JudgingDebt): number | null {
  if (steps >= mostOwed * node.limits.scale) return 1
  const left = spentUntil - node.now()
  return left > 0 ? Math.ceil(left / 1_000) : null
}

/** Counts steps that the running call of an account pays at its end. It throws if a budget is spent. */
export function oweSteps(node: JudgingNode, account: string, steps: number): void {
  const debt = judgingOn(node).debts.get(account)
  if (!debt) return
  const retryAfter = waitOf(node, debt)
  if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
  debt.steps += steps
}

/** The steps that a text of this account may take, and the function that counts them. */
export function judgingBudgetOf(node: JudgingNode & Pick<Node, 'settings'>, account: string) {
  const most = node.settings.verdictSteps
  const debt = judgingOn(node).debts.get(account)
  const isSpent = debt !== undefined && waitOf(node, debt) !== null
  return {
    steps: isSpent ? Math.min(most, stepsWhileSpent) : most,
    count({ all, reading, isTooComplex }: { all: number; reading: number; isTooComplex: boolean }): void {
      const owed = Math.max(0, all - reading - freeSteps)
      if (owed > 0 || (isSpent && isTooComplex)) oweSteps(node, account, owed)
    },
  }
}

/**
 * Runs a call that judges texts, and pays for their steps beyond the free ones. The buckets of the caller and the
 * address pay, even if the call was refused.
 */
export async function runJudgingCall<T>(
  node: JudgingNode & Pick<Node, 'logger'>,
  { limit }: Operation,
  { account, ip }: Pick<Caller, 'account' | 'ip'>,
  work: () => Promise<T>,
): Promise<T> {
  const { debts, spent } = judgingOn(node)
  const key = account ?? ip
  const debt = debts.get(key) ?? { calls: 0, steps: 0, paying: 0, spentUntil: 0 }
  debts.set(key, debt)
  debt.calls += 1
  debt.spentUntil = Math.max(debt.spentUntil, spent.get(ip) ?? 0)
  try {
    return await work()
  } finally {
    const steps = debt.steps - debt.paying
    debt.paying += steps
    await pay(steps).catch((error: unknown) => node.logger.warn({ error }, 'a judgement was not paid'))
    debt.paying -= steps
    debt.steps -= steps
    debt.calls -= 1
    if (debt.calls === 0) debts.delete(key)
  }

  async function pay(steps: number): Promise<void> {
    const calls = Math.ceil(Math.min(steps, mostOwed) / stepsOfACall)
    for (let paid = 0; paid < calls; paid++) {
      const { retryAfterSeconds } = await node.limits.spend(limit, key)
      const retryAfter = await node.limits.wait('costs', ip, budgets.costsOfAddress.most, 60)
      const until = (seconds: number | null) => (seconds === null ? 0 : node.now() + seconds * 1_000)
      debt.spentUntil = Math.max(debt.spentUntil, until(retryAfterSeconds), until(retryAfter))
      if (retryAfter !== null) spent.set(ip, until(retryAfter), retryAfter * 1_000)
    }
  }
}

/** A holder of a counted resource, and its budget; a null key is not counted. */
interface Share {
  key: unknown
  budget: Budget
  of: string
}

/**
 * Counts one more for each holder, and returns the function that ends the count. It throws `RATE_LIMIT_EXCEEDED` if one
 * is at its budget.
 */
export function holdShares(
  held: Map<unknown, number>,
  shares: readonly Share[],
  { scale, what, retryAfter }: { scale: number; what: string; retryAfter: number },
): () => void {
  const counted = shares.filter(({ key }) => key !== null)
  for (const { key, budget, of } of counted) {
    const most = scaledBudget(budget, scale)
    if ((held.get(key) ?? 0) < most) continue
    const message = `Your ${of} has ${most} ${what}, and may have no more`
    throw new AppError('RATE_LIMIT_EXCEEDED', { message, retryAfter })
  }
  for (const { key } of counted) held.set(key, (held.get(key) ?? 0) + 1)
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    for (const { key } of counted) {
      const left = (held.get(key) ?? 0) - 1
      if (left > 0) held.set(key, left)
      else held.delete(key)
    }
  }
}
