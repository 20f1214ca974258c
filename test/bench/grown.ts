import { newId } from '#server/kernel/ids'
import { openEmbedded } from '#server/ports/database/embedded'
import { textOf } from './load.ts'

const batch = 5_000

interface Stored {
  _id: string
  seq: number
  n: number
  total: number
  cid: string
  at: number
  applied_seq: number
  body: { text: string }
}

/** Extends the log of a room to a length by copies of its last message, while its server is stopped. */
export async function growLog(directory: string, room: string, toLength: number): Promise<void> {
  const store = await openEmbedded(directory)
  try {
    const events = store.db().collection('room_events')
    const heads = store.db().collection('room_heads')
    const [found] = await events.find({ room, type: 'message.created' }).sort({ seq: -1 }).limit(1).toArray()
    const last = found as unknown as Stored | undefined
    if (!last) throw new Error('The room has no message to begin with')
    for (let seq = last.seq; seq < toLength; ) {
      const size = Math.min(batch, toLength - seq)
      await events.insertMany(Array.from({ length: size }, (_, at) => after(last, seq + at + 1 - last.seq)))
      seq += size
    }
    const { seq, total } = after(last, toLength - last.seq)
    await heads.updateOne({ _id: room }, { $set: { seq, total, applied: seq } })
  } finally {
    await store.close()
  }
}

function after(last: Stored, steps: number): Stored {
  const seq = last.seq + steps
  return {
    ...last,
    _id: newId(),
    seq,
    n: last.n + steps,
    total: last.total + steps,
    cid: `grown-${steps}`,
    at: last.at + steps,
    applied_seq: seq,
    body: { ...last.body, text: textOf(steps, 60 + (steps % 141)) },
  }
}
