import type { Judging } from '#server/domains/moderation/verdict/verdict'
import { type BlockedWord, compileWords, type WordList } from '#server/domains/moderation/verdict/words'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { GLOBAL, type View } from '#server/log/types'
import { type WordFact, wordsIn } from './facts.ts'

/** What words are judged by in this room. */
export const judgingOf = (node: Node, view: View): Judging => ({
  words: wordListsOf(node, view),
  steps: node.settings.verdictSteps,
})

/** The words that are blocked everywhere, then those that are blocked here. */
export const wordListsOf = (node: Node, view: View): readonly WordList[] => [
  compiled(node, wordsIn(view.global), 'global'),
  ...(view.room === GLOBAL ? [] : [compiled(node, wordsIn(view), 'room')]),
]

const listsOf = nodeState(() => ({
  compiled: new WeakMap<readonly WordFact[], WordList>(),
  leftOut: new Map<string, string>(),
}))

/** Why a word that is stored is not in use; null where it is. Known after its list has been read. */
export const leftOutBecause = (node: Node, wordId: string): string | null => listsOf(node).leftOut.get(wordId) ?? null

const blocked = new WeakMap<WordFact, BlockedWord>()

/** The same objects for the same facts, so that what is known of a word is kept for as long as it is in a list. */
function blockedAmong(words: readonly WordFact[], scope: 'global' | 'room'): BlockedWord[] {
  return words.map((fact) => {
    const known = blocked.get(fact)
    if (known) return known
    const { word_id: id, word, action, is_regex, as_written = false } = fact
    const made = { id, word, action, is_regex, as_written, scope }
    blocked.set(fact, made)
    return made
  })
}

/** The words that are blocked in this view alone: of everywhere, or of a room. */
export const blockedIn = (view: View): readonly BlockedWord[] =>
  blockedAmong(wordsIn(view), view.room === GLOBAL ? 'global' : 'room')

/** A list is compiled once for as long as it stays the same. */
function compiled(node: Node, words: readonly WordFact[], scope: 'global' | 'room'): WordList {
  const { compiled, leftOut } = listsOf(node)
  const known = compiled.get(words)
  if (known) return known
  for (const { word_id } of words) leftOut.delete(word_id)
  const list = compileWords(blockedAmong(words, scope), (word, reason) => {
    leftOut.set(word, reason)
    node.logger.warn({ word, reason }, 'a blocked word is out of use')
  })
  compiled.set(words, list)
  return list
}
