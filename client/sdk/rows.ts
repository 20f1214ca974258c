import type { Message } from '#shared/api/rooms/message'
import type { LocalMessage } from './types.ts'

const asSent = (message: Message | LocalMessage): LocalMessage => ({
  reacted: [],
  ...message,
  local: 'sent',
  refusal: null,
})

/** The row as the server sent it. */
export function bare(row: Message | LocalMessage): Message {
  const { local: _, refusal: __, reacted: ___, ...message } = { local: null, refusal: null, reacted: null, ...row }
  return message
}

/** Inserts a row at its place in the order. A row that is present is replaced only by a newer version. */
export function createdRow(rows: readonly LocalMessage[], message: Message): readonly LocalMessage[] {
  const at = placeOf(rows, message.seq)
  const present = rows[at - 1]
  if (present?.seq !== message.seq) return rows.toSpliced(at, 0, asSent(message))
  if (!isNewer(message, present)) return rows
  return rows.with(at - 1, asSent({ ...message, reacted: message.is_deleted ? [] : present.reacted } as LocalMessage))
}

/** Replaces rows that are present by newer versions; other rows are not added. */
export function editedRow<Row extends Message>(rows: readonly Row[], message: Message): readonly Row[] {
  const at = rows.findLastIndex(({ id }) => id === message.id)
  const present = rows[at]
  if (!present || !isNewer(message, present)) return rows
  if (message.is_deleted) return rows.with(at, { ...present, ...message, ...('reacted' in present && { reacted: [] }) })
  const { reactions, is_pinned, pinned_by, pinned_at } = present
  return rows.with(at, { ...present, ...message, reactions, is_pinned, pinned_by, pinned_at })
}

/** Changes the row with an id, if it is present and not deleted. */
export function patchRow<Row extends Message>(
  rows: readonly Row[],
  id: string,
  patch: (row: Row) => Partial<Row>,
): readonly Row[] {
  return patchRows(rows, (row) => row.id === id && !row.is_deleted, patch)
}

export function patchRows<Row extends Message>(
  rows: readonly Row[],
  matches: (row: Row) => boolean,
  patch: (row: Row) => Partial<Row>,
): readonly Row[] {
  return rows.some(matches) ? rows.map((row) => (matches(row) ? { ...row, ...patch(row) } : row)) : rows
}

/** The counts of a message after a reaction; of the account's own, its mark as well. */
export const reactedRow = (
  rows: readonly LocalMessage[],
  {
    id,
    emoji,
    on,
    counts,
    isOwn,
  }: { id: string; emoji: string; on: boolean; counts: Message['reactions']; isOwn: boolean },
): readonly LocalMessage[] =>
  patchRow(rows, id, ({ reacted }) => {
    const others = reacted.filter((one) => one !== emoji)
    return { reactions: counts, reacted: isOwn ? (on ? [...others, emoji] : others) : reacted }
  })

const isNewer = (message: Message, present: Message): boolean =>
  !present.is_deleted && (message.is_deleted || message.version > present.version)

/** The number of rows with a seq up to this one; most often all of them. */
function placeOf(rows: readonly LocalMessage[], seq: number): number {
  let low = 0
  let high = rows.length
  if ((rows.at(-1)?.seq ?? 0) <= seq) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}
