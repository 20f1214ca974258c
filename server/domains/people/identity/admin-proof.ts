import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { roleOf } from '#server/domains/people/accounts/roles'
import type { Context, Node, SignedIn } from '#server/kernel/context'
import type { AdminProof } from '#server/kernel/domain'
import { budgets } from '#server/kernel/limits/budgets'
import { nodeState } from '#server/kernel/operate/node-state'
import { SignedMessage } from '#shared/api/people/identity'
import { AppError } from '#shared/errors'
import { secretsOf } from './codes.ts'
import { Identities, type IdentityRecord } from './model.ts'
import {
  type AskChain,
  checkMessage,
  type MessageRequest,
  type Purpose,
  type WalletRequest,
  writeMessage,
} from './siwe.ts'
import type { ClientData } from './tokens.ts'

const goodMilliseconds = 24 * 60 * 60 * 1000
const budgetSeconds = 60

const administering = 'Administer Plaza.'

const timeDigits = 12
const codeDigits = 40

/**
 * An admin proof accompanies each request for a day, so its nonce is not used up. The nonce is not stored either: it is
 * its time in milliseconds, with our code over time and address.
 */
const adminPurpose: Purpose = {
  statement: administering,
  isFit: (statement) => statement === administering,

  nonceFor(node, address) {
    const time = Math.floor(node.now()).toString(16).padStart(timeDigits, '0')
    return time + codeOf(secretsOf(node)[0], time, address)
  },

  checkNonce(node, nonce, address) {
    const [time, code] = [nonce.slice(0, timeDigits), Buffer.from(nonce.slice(timeDigits))]
    const isOurs = secretsOf(node).some((secret) => {
      const expected = Buffer.from(codeOf(secret, time, address))
      return code.length === expected.length && timingSafeEqual(code, expected)
    })
    if (!isOurs) throw new AppError('INVALID_NONCE')
    if (node.now() - madeAt(nonce) >= goodMilliseconds) throw new AppError('NONCE_EXPIRED')
    return madeAt(nonce)
  },
}

const codeOf = (secret: Uint8Array, time: string, address: string) =>
  createHmac('sha256', secret).update(['admin', address, time].join('\0')).digest('hex').slice(0, codeDigits)

const madeAt = (nonce: string) => Number.parseInt(nonce.slice(0, timeDigits), 16)

/** A message that proves an admin's wallet for a day; it is no sign-in. */
export const writeAdminMessage = (asked: WalletRequest, address: string) =>
  writeMessage(asked, address, undefined, adminPurpose)

/** The account of the wallet and its role. FORBIDDEN if it is no admin, or is suspended. */
export async function proveAdmin(context: Context, signed: AdminProof) {
  const { account } = await proveWallet(context, signed)
  const role = await roleOf(context.node, account)
  if (role === 'user') throw new AppError('FORBIDDEN', { message: 'This is not the address of an admin' })
  return { account, role }
}

/**
 * Identifies the signer of such a message in the headers, as base64 of its URI encoding. Each call checks the role
 * itself.
 */
export const identifyAdmin =
  (node: Node) =>
  async (
    { address, signature, message }: AdminProof,
    seen: ClientData & { origin: string | null },
  ): Promise<SignedIn> => {
    const { ip, userAgent, origin } = seen
    const { most } = budgets.adminProofs
    const retryAfter = await node.limits.wait('admin-proofs', ip, most, budgetSeconds)
    if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
    const read = SignedMessage.safeParse({ address, signature, message: decoded(message) })
    if (!read.success) throw refusedProof(unreadable)
    const proven = await proveWallet({ node, origin }, read.data, limitedQuestions(node, ip, read.data)).catch(
      (error: unknown) => {
        throw error instanceof AppError ? inEveryCall(error) : error
      },
    )
    const { account, userId, chainId, nonce } = proven
    const session = {
      id: `admin ${nonce}`,
      authMethod: 'wallet',
      chainId,
      passkeyCredentialId: null,
      userId,
      expiresAt: madeAt(nonce) + goodMilliseconds,
      provenAt: madeAt(nonce),
    }
    return { account, session, ip, userAgent }
  }

const acceptedAtMost = 1_000
const questionsOn = nodeState(() => ({
  /** Hashes of messages that a chain accepted, each with its expiry. */
  accepted: new Map<string, number>(),
  /** Pending questions, shared by requests with the same message. */
  waiting: new Map<string, Promise<boolean>>(),
}))

/**
 * Asks the chain about wallets of admins, within limits by address and wallet. Accepted messages are exempt. Another
 * wallet is counted and refused like a wrong signature, without a question: its messages would evict those of admins.
 */
const limitedQuestions =
  (node: Node, ip: string, { address, message, signature }: AdminProof): AskChain =>
  (ask) => {
    const { accepted, waiting } = questionsOn(node)
    const hash = createHash('sha256').update([address, message, signature].join('\0')).digest('base64url')
    const answer = async () => {
      if ((accepted.get(hash) ?? 0) <= node.now()) await takeQuestion(node, ip, address)
      const isAccepted = (await isOfAdmin(node, address)) && (await ask())
      accepted.delete(hash)
      if (isAccepted) accepted.set(hash, node.now() + goodMilliseconds)
      for (const oldest of accepted.keys()) {
        if (accepted.size <= acceptedAtMost) break
        accepted.delete(oldest)
      }
      return isAccepted
    }
    const shared = waiting.get(hash) ?? answer().finally(() => waiting.delete(hash))
    waiting.set(hash, shared)
    return shared
  }

async function takeQuestion({ limits }: Node, ip: string, address: string): Promise<void> {
  const { chainQuestionsFrom, chainQuestionsOf } = budgets
  const isFree =
    (await limits.guard('admin-chain-from', ip, chainQuestionsFrom.most, budgetSeconds)) &&
    (await limits.guard('admin-chain-of', address, chainQuestionsOf.most, budgetSeconds))
  if (!isFree) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: budgetSeconds })
}

async function proveWallet(asked: MessageRequest, { address, message, signature }: AdminProof, askChain?: AskChain) {
  const { chainId, nonce } = await checkMessage(asked, message, address, signature, adminPurpose, askChain)
  const account = await accountOfWallet(address)
  const { admin_proofs_from: from, user_id: userId = '' } = (await accountOf(account)) ?? {}
  if (from && madeAt(nonce) < from.getTime()) throw new AppError('NONCE_EXPIRED', { message: signedOut })
  return { account, userId, chainId, nonce }
}

async function accountOfWallet(address: string): Promise<string> {
  const linked = await Identities.findOne({ method: 'wallet', identifier: address }).lean<IdentityRecord>()
  return linked?.account ?? address
}

const isOfAdmin = async (node: Node, address: string) => (await roleOf(node, await accountOfWallet(address))) !== 'user'

const signedOut = 'This message ended as the account signed out everywhere. Sign a new one.'
const unreadable =
  'X-Admin-Address, X-Admin-Signature and X-Admin-Message, which is base64 of the URI-encoded message, go together'

const refusedProof = (message: string, cause?: unknown) => new AppError('UNAUTHORIZED', { message, cause })

/** The codes that every admin operation may answer. */
function inEveryCall(error: AppError): AppError {
  if (error.code === 'RATE_LIMIT_EXCEEDED') return error
  return error.status < 500 ? refusedProof(error.message, error) : new AppError('SERVICE_UNAVAILABLE', { cause: error })
}

function decoded(message: string): string | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(message)) return null
  try {
    return decodeURIComponent(Buffer.from(message, 'base64').toString('latin1'))
  } catch {
    return null
  }
}
