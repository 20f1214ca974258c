import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { OpenPlaces, type RunState, Runs, type StoredPlaces, type StoredRun } from './model.ts'

const mostToAgent = 5
const mostOfAccount = 20
/** A place without a stored run after so long is free. */
const storedMilliseconds = 60_000
const keptMilliseconds = 2 * 86_400_000
/** Enough for a document that another request creates. */
const mostTries = 3

type Asked = Pick<StoredRun, '_id' | 'agent_id' | 'account' | 'client_run_id'>
/** `asked`: the same question has a place, and may not be stored yet. */
export type PlaceOutcome = 'taken' | 'full' | 'asked'

const idsOf = ({ agent_id, account }: Pick<Asked, 'agent_id' | 'account'>) =>
  [`${account} ${agent_id}`, account] as const

/** Takes places for a question before it is stored: to its agent if private, and of the asker. */
export async function takeQuestionPlaces(node: Node, run: Asked, isInPrivate: boolean): Promise<PlaceOutcome> {
  const [toAgent, ofAccount] = idsOf(run)
  const first = isInPrivate ? await take(node, toAgent, run, mostToAgent) : 'taken'
  const outcome = first === 'taken' ? await take(node, ofAccount, run, mostOfAccount) : first
  if (outcome !== 'taken') await releaseQuestionPlaces(run)
  return outcome
}

/** Releases the places of a question, if any. */
export const releaseQuestionPlaces = (run: Pick<Asked, '_id' | 'agent_id' | 'account'>): Promise<void> =>
  releasePlaces(idsOf(run), run._id)

async function releasePlaces(ids: readonly string[], run: string): Promise<void> {
  await OpenPlaces.updateMany(
    { _id: { $in: [...ids] }, 'open.run': run },
    { $pull: { open: { run } }, $inc: { count: -1 } },
  )
}

async function take(node: Node, _id: string, run: Asked, most: number): Promise<PlaceOutcome> {
  const at = new Date(node.now())
  const place = { run: run._id, key: run.client_run_id, at }
  const expires_at = new Date(at.getTime() + keptMilliseconds)
  for (let tries = 0; tries < mostTries; tries++) {
    const { matchedCount } = await OpenPlaces.updateOne(
      { _id, count: { $lt: most } },
      { $push: { open: place }, $inc: { count: 1 }, $set: { expires_at } },
    )
    if (matchedCount === 1) return 'taken'
    const known = await OpenPlaces.findOne({ _id }).lean<StoredPlaces>()
    if (!known) {
      if (await isMade({ _id, open: [place], count: 1, expires_at })) return 'taken'
    } else if (known.count >= most && !(await takeOutEnded(node, known)))
      return known.open.some(({ key }) => key === run.client_run_id) ? 'asked' : 'full'
  }
  return 'full'
}

async function isMade(places: StoredPlaces): Promise<boolean> {
  try {
    await OpenPlaces.create(places)
    return true
  } catch (error) {
    if (!isDuplicate(error)) throw error
    return false
  }
}

/** Releases places of ended runs whose node died; true if there were any. */
async function takeOutEnded(node: Node, { _id, open }: StoredPlaces): Promise<boolean> {
  const runs = await Runs.find({ _id: { $in: open.map(({ run }) => run) } })
    .select({ state: 1 })
    .lean<{ _id: string; state: RunState }[]>()
  const states = new Map(runs.map((run) => [run._id, run.state]))
  const isOver = ({ run, at }: StoredPlaces['open'][number]) =>
    states.has(run) ? states.get(run) !== 'running' : node.now() - at.getTime() > storedMilliseconds
  const over = open.filter(isOver).map(({ run }) => run)
  for (const run of over) await releasePlaces([_id], run)
  return over.length > 0
}
