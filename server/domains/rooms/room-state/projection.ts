import { recordOf, signed } from '#server/domains/events'
import { bodyOf, isRowOf, type Rewrite } from '#server/domains/rooms/events/define'
import { GLOBAL, type Projection, type Row } from '#server/log/types'
import { roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { messageCreated, messageEdited } from './events/messages.ts'
import { pollChanged } from './events/polls.ts'
import { emptiedPoll, keys, type MessageBody, type MessageFact } from './facts.ts'

export const projection: Projection = {
  always: (room) =>
    room === GLOBAL
      ? [keys.words]
      : isBetweenTwo(roomOfKey(room).type)
        ? [keys.room, keys.blocks]
        : [keys.room, keys.rules, keys.words, keys.pins],
  changes: (row) => recordOf(row.type)?.changes?.(row, signed(row)) ?? [],
  isRecordOf: ({ type, _id }) => (type === messageCreated.type ? keys.message(_id) : null),
  isMessage: (type) => type === messageCreated.type,
  isChained: (type) => recordOf(type)?.entry !== undefined,
  holdsEverywhere: (type) => recordOf(type)?.holdsEverywhere ?? false,
  rewrites: rewriteRow,
}

/** The change of an event in earlier rows: messages and, on deletion, the texts of their edits and polls. */
function rewriteRow(event: Row): ((row: Row) => Row) | null {
  const rewrite = recordOf(event.type)?.rewrites?.(event, signed(event))
  return rewrite ? rewriteBy(rewrite) : null
}

export const rewriteBy =
  ({ covers, next, takesBack }: Rewrite) =>
  (row: Row): Row => {
    if (isRowOf(row, messageCreated)) return covers(row) ? withBody(row, next(row.body as unknown as MessageBody)) : row
    if (isRowOf(row, pollChanged) && takesBack?.poll(bodyOf(row, pollChanged).poll)) return withoutPoll(row)
    return isRowOf(row, messageEdited) && takesBack?.edit(row) ? withoutText(row) : row
  }

const withBody = (row: Row, body: unknown): Row => ({ ...row, body: body as Row['body'] })

function withoutText(edit: Row): Row {
  const { message, ...rest } = bodyOf(edit, messageEdited)
  return withBody(edit, { ...rest, message: textless(message) })
}

const textless = (message: MessageFact): MessageFact => ({
  ...message,
  body: { ...message.body, text: '', mentions: [] },
})

function withoutPoll(change: Row): Row {
  const body = bodyOf(change, pollChanged)
  const { message } = body
  return withBody(change, { ...body, poll: emptiedPoll(body.poll), ...(message && { message: textless(message) }) })
}
