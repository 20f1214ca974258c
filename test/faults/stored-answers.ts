import { z } from 'zod'
import { canonical } from './asker.ts'
import { grouped } from './checker.ts'
import type { Documents } from './stored.ts'

const Run = z.object({
  _id: z.string(),
  agent_id: z.string(),
  account: z.string(),
  client_run_id: z.string(),
  message: z.string(),
  message_id: z.string(),
  state: z.string(),
  content: z.string(),
  error_code: z.string().nullable(),
})
const Frame = z.looseObject({ t: z.string(), text: z.string().optional(), code: z.string().optional() })
const Piece = z.object({ run_id: z.string(), from_idx: z.number(), frames: z.array(Frame) })
const Payment = z.object({
  _id: z.string(),
  network: z.string(),
  payer: z.string(),
  nonce: z.string(),
  state: z.string(),
  answers: z.number(),
  run_id: z.string().nullable(),
  message_id: z.string().nullable(),
})
const Agent = z.object({ _id: z.string(), message_count: z.number() })

export type StoredPayment = z.infer<typeof Payment>
export interface StoredFrame {
  idx: number
  t: string
  body: string
  /** Of a chunk. */
  text: string
  /** Of an error. */
  code: string | null
}
export type StoredRun = z.infer<typeof Run> & { frames: readonly StoredFrame[] }

/** What agents have answered, and what was paid for it, as a database has it. */
export interface Answers {
  runs: readonly StoredRun[]
  payments: readonly StoredPayment[]
  /** The number of answers that each agent has given, as it is shown. */
  counts: ReadonlyMap<string, number>
}

export const nothingAnswered: Answers = { runs: [], payments: [], counts: new Map() }

export async function readAnswers(store: Documents): Promise<Answers> {
  const read = (name: string) => store.collection(name).find({}).toArray()
  const pieces = grouped(
    (await read('run_frames')).map((piece) => Piece.parse(piece)),
    ({ run_id }) => run_id,
  )
  const framesOf = (run: string) =>
    (pieces.get(run) ?? [])
      .toSorted((one, other) => one.from_idx - other.from_idx)
      .flatMap(({ from_idx, frames }) => frames.map((frame, at) => storedFrame(from_idx + at, frame)))
  return {
    runs: (await read('runs')).map((run) => Run.parse(run)).map((run) => ({ ...run, frames: framesOf(run._id) })),
    payments: (await read('payments')).map((payment) => Payment.parse(payment)),
    counts: new Map(
      (await read('agents')).map((agent) => {
        const { _id, message_count } = Agent.parse(agent)
        return [_id, message_count]
      }),
    ),
  }
}

export const storedFrame = (idx: number, frame: z.infer<typeof Frame>): StoredFrame => ({
  idx,
  t: frame.t,
  body: canonical(frame),
  text: frame.t === 'chunk' ? (frame.text ?? '') : '',
  code: frame.code ?? null,
})
