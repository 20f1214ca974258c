import { AppError, type ErrorCode, errors } from '#shared/errors'
import { kitTexts as t } from '../texts/kit.ts'
import { lengthOf } from './format.ts'

export type ProblemWords = Partial<Record<ErrorCode, string>>

/** The text of an error for the user; `words` replaces it for codes to which the caller has a better text. */
export function problemText(error: unknown, words: ProblemWords = {}): string {
  if (error instanceof AppError) {
    const better = words[error.code]
    if (better !== undefined) return better
    const seconds = waitOf(error)
    if (seconds !== null) return t.problems.tooMuch({ time: lengthOf(seconds) })
    if (error.code === 'SERVICE_UNAVAILABLE' && isExplained(error)) return error.message
    if (error.code === 'FORBIDDEN' && error.message !== errors.FORBIDDEN[1]) return error.message
    if (error.details?.why) return `${error.details.why}.`
    const plain: ProblemWords = t.codes
    return plain[error.code] ?? explained(error) ?? error.message
  }
  const text = explained(error)
  if (text !== null) return text
  if (error instanceof TypeError) return t.problems.unreachable
  return error instanceof Error && error.message ? error.message : t.problems.unknown
}

function explained(error: unknown): string | null {
  for (const explain of explanations) {
    const text = explain(error)
    if (text !== null) return text
  }
  return null
}

/** The seconds after which what was too much at once may be asked again; null of any other error. */
const waitOf = (error: unknown): number | null =>
  error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED' ? (error.retryAfter ?? 5) : null

const retryTimes = new WeakMap<AppError, string>()

/** When what was too much at once is asked for again, which is one moment for all that show it; null of any other error. */
export function retryTimeOf(error: unknown): string | null {
  const seconds = waitOf(error)
  if (seconds === null || !(error instanceof AppError)) return null
  const at = retryTimes.get(error) ?? new Date(Date.now() + seconds * 1_000).toISOString()
  retryTimes.set(error, at)
  return at
}

const isExplained = ({ message, details }: AppError): boolean =>
  message !== errors.SERVICE_UNAVAILABLE[1] && details?.answered !== false

type Explanation = (error: unknown) => string | null
const explanations: Explanation[] = []

/** Adds texts for errors of devices and wallets, or for refusals, by the part of the page that meets these. */
export const explainErrors = (explain: Explanation): void => void explanations.push(explain)
