import type { WordJudging } from '#server/domains/moderation/verdict/verdict'
import { type BlockedWord, compileWords, type WordList } from '#server/domains/moderation/verdict/words'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { GLOBAL, type View } from '#server/log/types'
import { type WordFact, wordsIn } from './facts.ts'

/** The inputs of judging words in this room. */
export const wordJudgingOf = (node: Node, view: View): WordJudging => ({
  words: wordListsOf(node, view),
  steps: node.settings.verdictSteps,
})

/** The globally blocked words, then those of this room. */
export const wordListsOf = (node: Node, view: View): readonly WordList[] => [
  compiled(node, wordsIn(view.global), 'global'),
  ...(view.room === GLOBAL ? [] : [compiled(node, wordsIn(view), 'room')]),
]

const listsOf = nodeState(() => ({
  compiled: new WeakMap<readonly WordFact[], WordList>(),
  leftOut: new Map<string, string>(),
}))

/** The reason why a stored word is not in use; null if it is. Known after its list was read. */
export const wordFaultOf = (node: Node, wordId: string): string | null => listsOf(node).leftOut.get(wordId) ?? null

const blocked = new WeakMap<WordFact, BlockedWord>()

/** Equal facts give the same objects, so that caches by word last as long as the list. */
function blockedWordsOf(words: readonly WordFact[], scope: 'global' | 'room'): BlockedWord[] {
  return words.map((fact) => {
    const known = blocked.get(fact)
    if (known) return known
    const { word_id: id, word, action, is_regex, as_written = false } = fact
    const made = { id, word, action, is_regex, as_written, scope }
    blocked.set(fact, made)
    return made
  })
}

/** The blocked words of this view alone: global, or of a room. */
export const blockedWordsIn = (view: View): readonly BlockedWord[] =>
  blockedWordsOf(wordsIn(view), view.room === GLOBAL ? 'global' : 'room')

/** A list is compiled once, until it changes. */
function compiled(node: Node, words: readonly WordFact[], scope: 'global' | 'room'): WordList {
  const { compiled, leftOut } = listsOf(node)
  const known = compiled.get(words)
  if (known) return known
  for (const { word_id } of words) leftOut.delete(word_id)
  const list = compileWords(blockedWordsOf(words, scope), (word, reason) => {
    leftOut.set(word, reason)
    node.logger.warn({ word, reason }, 'a blocked word is out of use')
  })
  compiled.set(words, list)
  return list
}
