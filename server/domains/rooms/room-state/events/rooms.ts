import { z } from 'zod'
import { defineEvent, jsonFields, patchFact, patchList, setFact } from '#server/domains/rooms/events/define'
import { filesAllowedOf, keys, RoomFact, RulesFact, WordFact } from '../facts.ts'

export const roomUpdated = defineEvent('room.updated', {
  body: z.object({ patch: RoomFact.partial() as z.ZodType<Partial<RoomFact>> }),
  changes: (_row, { patch: changes }) => [patchFact<RoomFact>(keys.room, (room) => ({ ...room, ...changes }))],
  data: (_row, { patch: room }) => ({ room }),
})

export const roomTopicChanged = defineEvent('room.topic_changed', {
  body: z.object({ topic: z.string().nullable() }),
  changes: ({ at }, { topic }) => [
    patchFact<RoomFact>(keys.room, (room) => ({ ...room, topic, updated_at: new Date(at).toISOString() })),
  ],
  data: (_row, { topic }) => ({ topic }),
})

export const roomArchived = defineEvent('room.archived', {
  body: z.object({}),
  changes: () => [patchFact<RoomFact>(keys.room, (room) => ({ ...room, is_active: false }))],
  data: () => ({}),
  entry: { action: () => 'archive' },
  holdsEverywhere: true,
  recounts: true,
  changesRights: 'of everybody',
})

export const rulesUpdated = defineEvent('rules.updated', {
  body: z.object({ rules: RulesFact, diff: jsonFields }),
  changes: (_row, { rules }) => [setFact(keys.rules, rules)],
  data: (_row, { rules, diff }, { type }) => {
    const { rules_id: _, ...shown } = rules
    return { version: rules.version, diff, rules: { ...shown, files_allowed: filesAllowedOf(rules, type) } }
  },
  entry: { action: () => 'rules', metadata: (_row, { diff }) => ({ diff }) },
  holdsEverywhere: true,
  changesRights: 'of everybody',
})

export const wordsUpdated = defineEvent('words.updated', {
  body: z.object({ added: WordFact.optional(), removed: WordFact.optional() }),
  changes: (_row, { added, removed }) => {
    const others = (words: WordFact[]) => words.filter(({ word_id }) => word_id !== (added ?? removed)?.word_id)
    return [
      patchList<WordFact>(keys.words, (words) => (added ? [...others(words), added] : others(words))),
      ...(added ? [setFact(keys.word(added.word_id), added)] : []),
      ...(removed ? [setFact(keys.word(removed.word_id), null)] : []),
    ]
  },
  data: () => ({}),
  entry: {
    action: ({ added }) => (added ? 'word_add' : 'word_remove'),
    metadata: (_row, { added, removed }) => {
      const { word, action, is_regex } = added ?? removed ?? {}
      return { word, action, is_regex }
    },
  },
  holdsEverywhere: true,
  changesRights: 'of everybody',
  isUnsigned: () => true,
})
