import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Node, Settings } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { seal, unseal } from '#server/kernel/seal'
import { Answers } from '#server/kernel/store/model'
import { isDuplicate, type Model } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { type Lease, type LeasedDocument, newLease, takeLease, withLease } from './lease.ts'

const keptMilliseconds = 24 * 60 * 60 * 1000
const deadlineMilliseconds = 10_000
const lookAgainMilliseconds = 50

interface StoredAnswer {
  _id: string
  input_hash: string
  creation_id: string
  run: string
  leased_until: Date
  answer?: string
}

const answerLease: Lease<StoredAnswer> = {
  model: Answers as unknown as Model<StoredAnswer>,
  holder: 'run',
  held_until: 'leased_until',
  milliseconds: 5_000,
}

/** A call with a key, which is executed once on all nodes. */
interface Repeatable {
  account: string
  operation: string
  key: string
}

type Keeper = Pick<Node, 'now'> & { settings: Pick<Settings, 'sessionKeys'> }

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')

/** Equal for equal fields, in any order. */
const inOrder = (input: unknown): string =>
  JSON.stringify(input, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )

/**
 * Executes a call, or returns its stored answer; simultaneous repeats wait for it. After a crash or unknown outcome, a
 * repeat gets the same `creationId`, and so finishes the created object. A refusal is not stored. CONFLICT if the key
 * has another input.
 */
export async function runOnce<Output>(
  node: Keeper,
  { account, operation, key }: Repeatable,
  input: unknown,
  act: (creationId: string) => Promise<Output>,
): Promise<Output> {
  const { sessionKeys } = node.settings
  const id = `${account} ${operation} ${key}`
  const input_hash = hashOf(inOrder(input))
  const until = performance.now() + deadlineMilliseconds
  for (;;) {
    const { isMine, ...call } = await take(node, id, input_hash)
    // Version 0.1 hashed the fields in the order of arrival.
    if (call.input_hash !== input_hash && call.input_hash !== hashOf(JSON.stringify(input)))
      throw new AppError('CONFLICT', { message: 'This key was used for another request' })
    if (call.answer) return JSON.parse(unseal(sessionKeys, call.answer)) as Output
    if (isMine) return withLease(answerLease, node, call, (held) => answer(call.creation_id, held))
    if (performance.now() > until) throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
    await pause(lookAgainMilliseconds)
  }

  async function answer(creationId: string, held: LeasedDocument<StoredAnswer>): Promise<Output> {
    try {
      const output = await act(creationId)
      await held.end({ $set: { answer: seal(sessionKeys, JSON.stringify(output)) } })
      return output
    } catch (error) {
      if (error instanceof AppError && error.status < 500) await held.end(null).catch(() => undefined)
      throw error
    }
  }
}

/** Takes a key that is new or whose lease expired; otherwise returns the stored row of the other call. */
async function take(node: Keeper, _id: string, input_hash: string): Promise<StoredAnswer & { isMine: boolean }> {
  const there = await Answers.findOne({ _id }).lean<StoredAnswer>()
  if (there) {
    const isOpen = there.input_hash === input_hash && !there.answer && there.leased_until.getTime() <= node.now()
    const mine = isOpen && (await takeLease(answerLease, node, { _id, run: there.run, answer: { $exists: false } }))
    return { ...(mine || there), isMine: Boolean(mine) }
  }
  const kept = { input_hash, creation_id: newId(), expires_at: new Date(node.now() + keptMilliseconds) }
  const fresh = { ...kept, ...newLease(answerLease, node) } as Omit<StoredAnswer, '_id'>
  const isMine = await Answers.updateOne({ _id }, { $setOnInsert: fresh }, { upsert: true }).then(
    ({ upsertedCount }) => upsertedCount === 1,
    (error: unknown) => {
      if (isDuplicate(error)) return false
      throw error
    },
  )
  return { _id, ...fresh, isMine }
}
