import { AppError, type ErrorCode, errors } from '#shared/errors'
import { kitTexts as t } from '../texts/kit.ts'
import { lengthOf } from './format.ts'

const plain: ProblemWords = t.codes

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
    return plain[error.code] ?? error.message
  }
  const device = deviceText(error)
  if (device !== null) return device
  const wallet = walletText(error)
  if (wallet !== null) return wallet
  if (error instanceof TypeError) return t.problems.unreachable
  return error instanceof Error && error.message ? error.message : t.problems.unknown
}

/** The seconds after which what was too much at once may be asked again; null of any other error. */
export const waitOf = (error: unknown): number | null =>
  error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED' ? (error.retryAfter ?? 5) : null

const isExplained = ({ message, details }: AppError): boolean =>
  message !== errors.SERVICE_UNAVAILABLE[1] && details?.answered !== false

const deviceTexts: Readonly<Record<string, string>> = t.devices

const deviceText = (error: unknown): string | null =>
  error instanceof Error && error.name in deviceTexts ? (deviceTexts[error.name] ?? null) : null

/** Texts for the errors of a wallet, by the codes of EIP-1193 and JSON-RPC; the errors may be plain objects. */
const walletTexts: Record<number, string> = {
  4001: t.wallets.declined,
  4100: t.wallets.notAllowed,
  4200: t.wallets.unsupported,
  4900: t.wallets.disconnected,
  4901: t.wallets.disconnected,
  [-32002]: t.wallets.pending,
  [-32603]: t.wallets.failed,
}

const walletText = (error: unknown): string | null =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? (walletTexts[error.code] ?? null)
    : null
