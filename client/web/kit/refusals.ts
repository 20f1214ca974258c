import { AppError, type ErrorCode, errors } from '#shared/errors'
import { refusalTexts } from '../texts/values.ts'
import { explainErrors, type ProblemWords } from './problem.ts'

const texts: ProblemWords = refusalTexts.codes

/** A message of the table of errors in the language of the page; others say more, and stay. */
export const refusalText = (code: ErrorCode, message: string): string =>
  (message === errors[code][1] && texts[code]) || message

explainErrors((error) => (error instanceof AppError ? refusalText(error.code, error.message) : null))
