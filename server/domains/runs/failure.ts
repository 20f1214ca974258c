import { RunFailure } from '#shared/api/run-frames'
import type { AppError } from '#shared/errors'

/** How a run fails by this error; null stands for one that nobody expected. */
export const failureBy = (refusal: AppError | null): RunFailure =>
  known(refusal?.details?.failure) ?? known(refusal?.code) ?? 'INTERNAL_ERROR'

const known = (code: unknown): RunFailure | undefined => RunFailure.safeParse(code).data
