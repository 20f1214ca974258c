import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { wordsAskedFor, wordsToFind } from '#server/domains/rooms/text/signs'
import { skeletonVersion } from '#shared/kit/looks'

const wordsAtMost = 300
const longestWord = 40
const afterAll = '\uffff'

const short = (word: string): string => word.slice(0, longestWord)

/** The distinct search words of an agent. */
export const searchableWords = ({ name, tags, personality }: Pick<StoredAgent, 'name' | 'tags' | 'personality'>) =>
  [...new Set(wordsToFind([name, ...tags, personality].join(' ')).map(short))].slice(0, wordsAtMost)

/** The filter for agents with words that begin so; null without words. */
export function searchFilter(search: string) {
  const asked = [...new Set(wordsAskedFor(search).map(short))]
  if (asked.length === 0) return null
  return asked.map((word) => ({ words: { $elemMatch: { $gte: word, $lt: word + afterAll } } }))
}

/** Updates the search words of agents of older versions, a few at a time. */
export async function updateSearchWords(): Promise<void> {
  const older = { words_version: { $ne: skeletonVersion } }
  for (;;) {
    const agents = await Agents.find(older, { name: 1, tags: 1, personality: 1 }).limit(100).lean<StoredAgent[]>()
    if (agents.length === 0) return
    for (const { _id, ...agent } of agents) {
      const $set = { words: searchableWords(agent), words_version: skeletonVersion }
      await Agents.updateOne({ _id, ...older }, { $set })
    }
  }
}
