import { Questions } from '#server/domains/room-state/model'
import { isDuplicate } from '#server/ports/database/port'

/** Notes that each answer to a message has begun, or that there is none to give: from then on the runs say what is left to do. */
export async function allBegun(_id: string, room: string, at: Date): Promise<void> {
  const note = (upsert: boolean) =>
    Questions.updateOne({ _id }, { $unset: { due_at: 1 }, $setOnInsert: { room, at } }, { upsert })
  // The record of the message is written at the same time.
  await note(true).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return note(false)
  })
}
