import { explainErrors } from '../../kit/problem.ts'
import { outerProblemTexts } from '../../texts/outer-problems.ts'

const t = outerProblemTexts.wallets

/** Texts for the errors of a wallet, by the codes of EIP-1193 and JSON-RPC; the errors may be plain objects. */
const texts: Readonly<Record<number, string>> = {
  4001: t.declined,
  4100: t.notAllowed,
  4200: t.unsupported,
  4900: t.disconnected,
  4901: t.disconnected,
  [-32002]: t.pending,
  [-32603]: t.failed,
}

explainErrors((error) =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? (texts[error.code] ?? null)
    : null,
)
