import { secondsLeftToday } from '#server/domains/agents/agent-spending/allowance'
import type { Node } from '#server/kernel/context'
import {
  type ChatLine,
  type CutShort,
  type FrameBody,
  isModelFailure,
  type RunFailure,
  type RunFrame,
  type WebSource,
} from '#shared/api/agents/run-frames'
import { AppError, type ErrorCode, errors } from '#shared/errors'

/** Waits for the whole answer. Throws without one. */
export async function answerOf(
  node: Pick<Node, 'now'>,
  frames: AsyncIterable<RunFrame>,
): Promise<RunFrame & { t: 'done' } & Beside> {
  let last: RunFrame | null = null
  const sources: WebSource[] = []
  for await (const frame of frames) {
    last = frame
    if (frame.t === 'source') sources.push(sourceOf(frame))
  }
  if (last?.t !== 'done') throw endOf(last, node.now())
  return { ...last, sources }
}

const sourceOf = ({ url, title }: WebSource): WebSource => ({ url, title })

interface Beside {
  cut_short?: CutShort | undefined
  sources?: readonly WebSource[] | undefined
}

/** Fields beside the text of an answer, if any. */
export const extrasOfAnswer = ({
  cut_short,
  sources = [],
}: Beside): { cut_short?: CutShort; sources?: WebSource[] } => ({
  ...(cut_short ? { cut_short } : {}),
  ...(sources.length > 0 ? { sources: [...sources] } : {}),
})

/** The refusal of a failed answer. */
function endOf(last: RunFrame | null, now: number): AppError {
  const known = last?.t === 'error' ? last : null
  const failure = known && isModelFailure(known.code) ? known.code : null
  const told = failure ? 'UPSTREAM_ERROR' : known?.code
  const code = told !== undefined && told in errors ? (told as ErrorCode) : 'SERVICE_UNAVAILABLE'
  const message = last?.t === 'cancelled' ? 'The answer was stopped' : (known?.text ?? 'The answer was not given')
  // The last tokens were used while the question waited.
  if (code === 'DAILY_TOKENS_REACHED') return new AppError(code, { retryAfter: secondsLeftToday(now) })
  if (code === 'SERVICE_UNAVAILABLE') return new AppError(code, { message })
  const why = failure ? { details: { failure } } : {}
  return new AppError(failures.includes(code) ? code : 'INTERNAL_ERROR', {
    message: generationFailedText,
    status: 500,
    ...why,
  })
}
const failures: readonly ErrorCode[] = ['UPSTREAM_ERROR', 'TIMEOUT', 'RUN_LOST']
export const generationFailedText = 'Failed to generate response'

export async function* answerLines(frames: AsyncIterable<RunFrame>): AsyncGenerator<ChatLine> {
  const sources: WebSource[] = []
  for await (const frame of frames) {
    if (frame.t === 'source') sources.push(sourceOf(frame))
    if (frame.t === 'chunk' && frame.text !== '') yield { type: 'chunk', text: frame.text }
    if (frame.t === 'done')
      yield {
        type: 'done',
        message: frame.message,
        scheduling: frame.scheduling,
        ...extrasOfAnswer({ ...frame, sources }),
      }
    if (frame.t === 'error') yield { type: 'error', error: frame.text, code: frame.code }
    if (frame.t === 'cancelled') yield { type: 'error', error: 'The answer was stopped' }
  }
}

/** Why a run was stopped early, for its last frame. */
export class StoppedRun extends Error {
  override readonly name = 'Stopped'
  readonly last: (partial: string | null) => FrameBody

  constructor(last: (partial: string | null) => FrameBody) {
    super('The answer was stopped')
    this.last = last
  }
}

export const failedRun = (code: RunFailure, text: string) =>
  new StoppedRun((partial_message_id) => ({ t: 'error', code, text, partial_message_id }))
export const cancelledRun = (by: string) =>
  new StoppedRun((partial_message_id) => ({ t: 'cancelled', by, partial_message_id }))
