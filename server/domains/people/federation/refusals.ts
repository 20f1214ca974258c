import { AppError, type ErrorCode } from '#shared/errors'

/** A refusal as these ways in have always told it. */
export const refusal = (code: ErrorCode, message: string, details = {}, status?: number) =>
  new AppError(code, { message, details: { success: false, ...details }, ...(status !== undefined && { status }) })
