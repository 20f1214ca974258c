import type { Action, Node } from '#server/kernel/context'
import type { UsedCredential } from '#shared/api/people/passkey-credentials'
import type { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { verifyAssertion } from './assertion.ts'
import { usedCredentialIn } from './bodies.ts'
import { issueChallenge, takeChallenge } from './challenges.ts'
import { checkClientData, readClientData } from './client-data.ts'
import { decoyCredentialOf } from './decoys.ts'
import type { Passkey, PasskeyChallenge } from './model.ts'
import { requestOptions } from './options.ts'
import { credentialIdsOf, passkeyOf, recordUse } from './passkeys.ts'
import { offerRescue } from './recovery.ts'
import { passkeySettings, requestedSite } from './settings.ts'
import { signInWith } from './sign-in.ts'

export const beginLogin: Action<typeof contract.beginLogin> = async (input, { node }) => {
  const site = requestedSite(node, input)
  const useDevicePasskey = input.useDevicePasskey ?? false
  const account = useDevicePasskey ? null : (input.userAddress ?? null)
  const challenge = await issueChallenge({ ceremony: 'login', user_address: account }, node.now())
  const known = account === null ? [] : await knownOrDecoy(node, account)
  const options = requestOptions(site, challenge, known)
  return { ...options, options, useDevicePasskey }
}

/** An account without passkeys looks like any other. */
async function knownOrDecoy(node: Node, account: string): Promise<string[]> {
  const decoy = decoyCredentialOf(node, account)
  const known = await credentialIdsOf(account)
  return known.length > 0 ? known : [decoy]
}

export const login: Action<typeof contract.login> = async (input, context) => {
  const { node } = context
  const site = passkeySettings.of(node)
  const credential = usedCredentialIn(input)
  const clientData = readClientData(credential.response.clientDataJSON)
  const challenge = await takeChallenge('login', clientData.challenge, node.now())
  if (input.challenge && input.challenge !== challenge._id) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  checkClientData(clientData, 'webauthn.get', site)
  const passkey = await passkeyOf(credential.id)
  if (!passkey) return offerRescue(context, credential.id)
  refuseOthers(passkey, challenge, credential, input.userAddress ?? null)
  const { counter, backedUp } = await verifyAssertion(credential, passkey, challenge._id, site)
  if (!(await recordUse(passkey, counter, backedUp, node.now()))) {
    const { _id, user_address: actor, counter: before } = passkey
    node.logger.warn({ actor, passkey: _id, counter, before }, 'a passkey counted backwards: there may be a copy of it')
    throw new AppError('PASSKEY_VERIFICATION_FAILED')
  }
  return signInWith(context, { ...passkey, backed_up: backedUp })
}

/** A challenge of one account signs in to no other, nor does a passkey with another user handle. */
function refuseOthers(
  passkey: Passkey,
  { user_address: asked }: PasskeyChallenge,
  { response: { userHandle } }: UsedCredential,
  claimed: string | null,
): void {
  const isOther = [asked, claimed].some((account) => account !== null && !isSameAccount(account, passkey.user_address))
  const isOtherHandle = Boolean(userHandle) && userHandle !== passkey.user_handle
  if (isOther || isOtherHandle) throw new AppError('PASSKEY_VERIFICATION_FAILED')
}
