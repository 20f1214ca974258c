import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { logEntryOf } from '#server/domains/moderation/moderation/moderate'
import { eventOf } from '#server/domains/rooms/messages/pages'
import { projection } from '#server/domains/rooms/room-state/projection'
import { type Fact, GLOBAL, type Row } from '#server/log/types'

/** Each row with what it meant to the version that stored it. */
const stored = readFileSync(new URL('../fixtures/stored-log.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { row: Row; means: object })
const rows = stored.map(({ row }) => row)

/** Facts as they may stand before a row. */
const before: Record<string, Fact> = {
  room: { name: 'Tea', member_count: 9 },
  message: { id: 'm1', cid: 'c', sender: 'ada', seq: 1, n: 1, at: 1, body: rows[0]?.body ?? null },
  invitations: [(rows.find(({ type }) => type === 'invitation.created')?.body.invitation ?? null) as Fact],
  words: [(rows.find(({ type }) => type === 'words.updated')?.body.added ?? null) as Fact],
  pins: ['m1', 'm2'],
  blocks: ['bob'],
}

function attempt<T>(run: () => T): T | 'throws' {
  try {
    return run()
  } catch {
    return 'throws'
  }
}

function factsOf(row: Row) {
  return projection.changes(row).map((change) => {
    if ('value' in change) return { key: change.key, value: change.value }
    const known = before[change.key.split(':')[0] ?? ''] ?? []
    return { key: change.key, ofNull: attempt(() => change.patch(null)), of: attempt(() => change.patch(known)) }
  })
}

function rewritten(row: Row) {
  const next = projection.rewrites?.(row)
  return next ? rows.map((one) => next(one)).filter((one, at) => one !== rows[at]) : null
}

const meaning = (row: Row) => ({
  event: row.room === GLOBAL ? null : eventOf(row),
  entry: row.chained ? logEntryOf(row) : null,
  chained: projection.isChained(row.type),
  holdsEverywhere: projection.holdsEverywhere(row.type),
  isMessage: projection.isMessage(row.type),
  facts: attempt(() => factsOf(row)),
  rewritten: attempt(() => rewritten(row)),
})

test('rows that an older version stored mean what they meant to it', () => {
  for (const { row, means } of stored)
    expect(JSON.parse(JSON.stringify(meaning(row))), `${row.type}, seq ${row.seq}`).toEqual(means)
})
