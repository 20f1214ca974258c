import { isHex } from 'viem'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { storeSmartAccount } from '#server/domains/people/accounts/smart-account'
import { signIn, startSession } from '#server/domains/people/identity/sign-in'
import type { Context } from '#server/kernel/context'
import type { Passkey } from './model.ts'
import { firstPasskeyOf } from './passkeys.ts'

/** Begins a session after the use of a passkey. Adding one to the own account keeps the calling session. */
export async function signInWith(context: Context, passkey: Passkey, isAdded = false) {
  const { user_address: account, credential_id: credentialId, backed_up: backedUp } = passkey
  const isSettled = await storeSmartAccountOf(account)
  const answer = await (isAdded ? signInBeside : signIn)(context, account, {
    authMethod: 'passkey',
    passkeyCredentialId: credentialId,
  })
  if (!isSettled) await storeSmartAccountOf(account)
  return { ...answer, credentialId, backedUp }
}

const signInBeside: typeof signIn = async (context, account, proof) => {
  const { sessionToken, refreshToken, user } = await startSession(context.node, account, {
    ...proof,
    seen: context.caller,
  })
  context.http?.setSessionCookie(sessionToken)
  return { success: true, verified: true, authenticated: true, sessionToken, refreshToken, userAddress: account, user }
}

/** The first passkey of an account without a wallet gives it a smart account. */
async function storeSmartAccountOf(id: string): Promise<boolean> {
  const [account, first] = await Promise.all([accountOf(id), firstPasskeyOf(id)])
  if (!account) return false
  const { credential_id: credentialId = '', public_key_x: x, public_key_y: y } = first ?? {}
  await storeSmartAccount(account, isHex(x) && isHex(y) ? { credentialId, x, y } : null)
  return true
}
