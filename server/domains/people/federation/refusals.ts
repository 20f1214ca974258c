import { AppError, type ErrorCode } from '#shared/errors'

/** A refusal in the shape of the partner interfaces. */
export const federationRefusal = (code: ErrorCode, message: string, details = {}, status?: number) =>
  new AppError(code, { message, details: { success: false, ...details }, ...(status !== undefined && { status }) })
