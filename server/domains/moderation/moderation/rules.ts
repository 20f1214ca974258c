import { tryPattern } from '#server/domains/moderation/verdict/patterns'
import { type BlockedWord, emptyWord, formOf } from '#server/domains/moderation/verdict/words'
import { hasBlock } from '#server/domains/rooms/room-state/access'
import { rulesUpdated, wordsUpdated } from '#server/domains/rooms/room-state/events/rooms'
import {
  memberIn,
  moderatorIn,
  type RulesFact,
  roomRefOf,
  rulesIn,
  type WordFact,
  wordsIn,
} from '#server/domains/rooms/room-state/facts'
import { blockedWordsIn } from '#server/domains/rooms/room-state/judge-draft'
import { kinds } from '#server/domains/rooms/room-state/kinds'
import { entryOf, ranks } from '#server/domains/rooms/room-state/standing'
import { newId } from '#server/kernel/ids'
import { GLOBAL, type Json } from '#server/log/types'
import type { Act } from '#shared/api/moderation/moderation-acts'
import { defaultRules, type Rules } from '#shared/api/moderation/verdict'
import { AppError } from '#shared/errors'
import { isBetweenTwo, isForModerators, longestIn } from '#shared/kit/room-kinds'
import { type Decision, needPermission, rulesIdOf, type Scene } from './moderate.ts'

export const decideRules =
  ({ patch }: Act) =>
  (scene: Scene): Decision => {
    const { view, now, actor } = scene
    const { type } = roomRefOf(view)
    const before = { ...defaultRules, ...rulesIn(view) }
    const changes = Object.entries(patch?.rules ?? {}).filter(
      ([name, value]) => value !== undefined && before[name as keyof Rules] !== value,
    )
    needRightTo(
      scene,
      changes.map(([name]) => name),
    )
    const { read_only, max_message_length: most } = patch?.rules ?? {}
    if (most !== undefined && longestIn(type, most) !== most)
      throw new AppError('VALIDATION_ERROR', {
        message: `In this kind of room a message has at most ${longestIn(type, most)} characters`,
      })
    if (read_only === false && isForModerators(type))
      throw new AppError('VALIDATION_ERROR', { message: 'In this kind of room only moderators may write' })
    if (changes.length === 0) return { already: before }
    const record: RulesFact = {
      ...before,
      ...(Object.fromEntries(changes) as Partial<Rules>),
      rules_id: before.rules_id || rulesIdOf(view.room),
      version: before.version + 1,
      updated_by: actor.account,
      updated_at: new Date(now).toISOString(),
    }
    const diff = Object.fromEntries(changes) as { [name: string]: Json }
    return { entry: entryOf(view, actor, rulesUpdated, { rules: record, diff }), record }
  }

/** Throws unless the actor may change these rules. Either of two people may set when their messages are removed; in rooms the owner does. */
function needRightTo(scene: Scene, names: readonly string[]): void {
  const { view, mine } = scene
  const { type } = roomRefOf(view)
  const { hasRules, rulesBy, runBy } = kinds[type]
  if (isBetweenTwo(type)) {
    if (hasBlock(view)) throw new AppError('BLOCKED')
    if (names.some((name) => name !== 'message_ttl'))
      throw new AppError('VALIDATION_ERROR', { message: 'Direct messages have no rule but message_ttl' })
    return
  }
  if (!(rulesBy === 'moderators' && hasRole(scene))) needPermission(scene, 'canManageMods')
  if (!hasRules) throw new AppError('VALIDATION_ERROR', { message: 'This kind of room has no rules' })
  if (names.includes('message_ttl') && mine.rank < ranks[runBy ?? 'siteAdmin'])
    throw new AppError('FORBIDDEN', { message: 'Only the owner may set when messages are removed' })
}

/** Is the actor a moderator by role, without a grant that restricts it? */
const hasRole = ({ view, actor, mine }: Scene): boolean =>
  memberIn(view, actor.account)?.role === 'moderator' && moderatorIn(view, actor.account) === null && mine.isModerator

const maxWords = 1_000
/** The most normalised characters of all words that are no patterns. */
const maxCharacters = 50_000

/** Global words are edited by admins and global moderators, a room's words by its managers. */
function needWords(scene: Scene): void {
  if (scene.view.room !== GLOBAL) needPermission(scene, 'canManageMods')
  else if (!scene.mine.isModerator)
    throw new AppError('FORBIDDEN', { message: 'Only admins and global moderators may do this' })
}

export const addWord =
  ({ patch }: Act, id = newId()) =>
  (scene: Scene): Decision => {
    const { view, now, actor } = scene
    const words = wordsIn(view)
    needWords(scene)
    if (patch?.word === undefined) throw new AppError('VALIDATION_ERROR', { message: 'word missing' })
    const is_regex = patch.is_regex ?? false
    const cost = is_regex ? costOf(patch.word, words) : 0
    const as_written = !is_regex && (patch.as_written ?? false)
    const word = is_regex ? patch.word : patch.word.toLowerCase()
    const empty = is_regex ? null : emptyWord(word)
    if (empty !== null) throw new AppError('VALIDATION_ERROR', { message: empty })
    refuseBeside(blockedWordsIn(view), { id, word, is_regex, as_written, action: 'block', scope: 'room' })
    const added: WordFact = {
      word_id: id,
      word,
      action: patch.word_action ?? 'block',
      is_regex,
      ...(as_written && { as_written }),
      added_by: actor.account,
      added_at: new Date(now).toISOString(),
      cost,
      quarantined: null,
    }
    return { entry: entryOf(view, actor, wordsUpdated, { added }), record: added }
  }

/** Refuses a word that the list has in any equivalent spelling, or that exceeds its limits. */
function refuseBeside(words: readonly BlockedWord[], added: BlockedWord): void {
  if (words.some((word) => isAlike(word, added)))
    throw new AppError('CONFLICT', { message: 'This word is blocked already' })
  if (words.length >= maxWords) throw new AppError('CONFLICT', { message: `A list holds at most ${maxWords} words` })
  if (added.is_regex) return
  const plain = words.filter(({ is_regex }) => !is_regex)
  if (plain.reduce((sum, word) => sum + formOf(word).size, formOf(added).size) > maxCharacters)
    throw new AppError('CONFLICT', { message: `The words of a list have at most ${maxCharacters} characters together` })
}

function isAlike(one: BlockedWord, other: BlockedWord): boolean {
  if (one.word.toLowerCase() === other.word.toLowerCase()) return true
  if (one.is_regex || other.is_regex) return false
  const [form, its] = [formOf(one), formOf(other)]
  return form.kind === its.kind && form.text === its.text
}

/** The cost of the pattern in steps; throws if it is invalid, or too costly beside the others. */
function costOf(pattern: string, words: readonly WordFact[]): number {
  const others = words.filter(({ is_regex }) => is_regex).map(({ word, cost }) => ({ source: word, cost }))
  const tried = tryPattern(pattern, others)
  if (!tried.ok) throw new AppError(tried.code, { message: tried.reason })
  return tried.cost
}

export const removeWord =
  ({ patch }: Act) =>
  (scene: Scene): Decision => {
    const { view, actor } = scene
    const removed = wordsIn(view).find(({ word_id }) => word_id === patch?.word_id)
    needWords(scene)
    if (!removed) throw new AppError('NOT_FOUND', { message: 'Word not found' })
    return { entry: entryOf(view, actor, wordsUpdated, { removed }), record: removed }
  }
