import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import type { Node, Settings } from './context.ts'
import { newId } from './ids.ts'
import { Answers } from './model.ts'
import { seal, unseal } from './seal.ts'

const keptMilliseconds = 24 * 60 * 60 * 1000
const leaseMilliseconds = 5_000
const renewMilliseconds = 1_500
const deadlineMilliseconds = 10_000
const lookAgainMilliseconds = 50

/** A call to be carried out once, however often and through whichever node it arrives. */
interface Repeatable {
  account: string
  operation: string
  key: string
}

type Keeper = Pick<Node, 'now'> & { settings: Pick<Settings, 'sessionKeys'> }

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')

/** The same for the same fields, in whatever order they come. */
const inOrder = (input: unknown): string =>
  JSON.stringify(input, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )

/**
 * Does a call, or gives the answer that it had. Of several at once one does it and the others wait for its answer. One whose
 * process dies, or whose outcome is unknown, is done again under the same `creationId`, so that what it made is found and
 * finished. A refusal is not kept. CONFLICT where the key was used with another input.
 */
export async function once<Output>(
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
    const claim = await take(node, id, input_hash)
    // Version 0.1 took the fields as they came.
    if (claim.input_hash !== input_hash && claim.input_hash !== hashOf(JSON.stringify(input)))
      throw new AppError('CONFLICT', { message: 'This key was used for another request' })
    if (claim.answer) return JSON.parse(unseal(sessionKeys, claim.answer)) as Output
    if (claim.isMine) return finish(claim)
    if (performance.now() > until) throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
    await pause(lookAgainMilliseconds)
  }

  async function finish({ run, creation_id }: Claim): Promise<Output> {
    const mine = { _id: id, run }
    const renewal = setInterval(() => void renew(mine, node.now()).catch(() => undefined), renewMilliseconds)
    try {
      const output = await act(creation_id)
      const answer = seal(sessionKeys, JSON.stringify(output))
      await Answers.updateOne(mine, { $set: { answer } })
      return output
    } catch (error) {
      const isRefused = error instanceof AppError && error.status < 500
      const given = isRefused
        ? Answers.deleteOne(mine)
        : Answers.updateOne(mine, { $set: { leased_until: new Date(0) } })
      await given.exec().catch(() => undefined)
      throw error
    } finally {
      clearInterval(renewal)
    }
  }
}

const renew = (mine: { _id: string; run: string }, now: number) =>
  Answers.updateOne(mine, { $set: { leased_until: new Date(now + leaseMilliseconds) } }).exec()

interface Kept {
  input_hash: string
  creation_id: string
  run: string
  leased_until: Date
  answer?: string
}
type Claim = Kept & { isMine: boolean }

/** Claims a key that is new, or whose lease has expired; otherwise returns what the other call has stored. */
async function take(node: Keeper, id: string, input_hash: string): Promise<Claim> {
  const now = node.now()
  const run = newId()
  const leased_until = new Date(now + leaseMilliseconds)
  const there = await Answers.findOne({ _id: id }).lean<Kept>()
  if (!there) {
    const fresh = { input_hash, creation_id: newId(), run, leased_until, expires_at: new Date(now + keptMilliseconds) }
    const isMine = await Answers.updateOne({ _id: id }, { $setOnInsert: fresh }, { upsert: true }).then(
      ({ upsertedCount }) => upsertedCount === 1,
      (error: unknown) => {
        if (isDuplicate(error)) return false
        throw error
      },
    )
    return { ...fresh, isMine }
  }
  const isOpen = there.input_hash === input_hash && !there.answer && there.leased_until.getTime() <= now
  const mine =
    isOpen &&
    (await Answers.updateOne({ _id: id, run: there.run, answer: { $exists: false } }, { $set: { run, leased_until } }))
  return mine && mine.matchedCount === 1 ? { ...there, run, isMine: true } : { ...there, isMine: false }
}
