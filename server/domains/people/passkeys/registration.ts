import { randomBytes } from 'node:crypto'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { notifyOfChange } from '#server/domains/people/identity/change-notices'
import type { Action } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { verifyAttestation } from './attestation.ts'
import { newCredentialIn, type Point } from './bodies.ts'
import { issueChallenge, takeChallenge } from './challenges.ts'
import { checkClientData, readClientData } from './client-data.ts'
import type { Passkey } from './model.ts'
import { creationOptions } from './options.ts'
import { accountOfNewPasskey, passkeyOwnerOf } from './passkey-owners.ts'
import { credentialIdsOf, passkeyNameOf, storePasskey } from './passkeys.ts'
import { passkeySettings, requestedSite } from './settings.ts'
import { signInWith } from './sign-in.ts'

const handleBytes = 32

export const beginRegistration: Action<typeof contract.beginRegistration> = async (input, context) => {
  const site = requestedSite(context.node, input)
  const { account, recoveryHash } = await passkeyOwnerOf(input, context)
  const displayName = input.displayName ?? input.userName ?? null
  const user_handle = randomBytes(handleBytes).toString('base64url')
  const challenge = await issueChallenge(
    {
      ceremony: 'register',
      user_address: account,
      recovery_hash: recoveryHash,
      user_handle,
      display_name: displayName,
    },
    context.node.now(),
  )
  const record = account === null ? null : await accountOf(account)
  const name = displayName ?? record?.username ?? account ?? input.userAddress ?? site.rpName
  const known = account === null || recoveryHash !== null ? [] : await credentialIdsOf(account)
  const options = creationOptions(site, challenge, { id: user_handle, name }, known)
  return {
    ...options,
    options,
    isRecoveryFlow: recoveryHash !== null,
    userAddress: account ?? input.userAddress ?? null,
  }
}

export const register: Action<typeof contract.register> = async (input, context) => {
  const { node } = context
  const site = passkeySettings.of(node)
  const { credential, claimed } = newCredentialIn(input)
  const clientData = readClientData(credential.response.clientDataJSON)
  const challenge = await takeChallenge('register', clientData.challenge, node.now())
  if (input.challenge && input.challenge !== challenge._id) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  checkClientData(clientData, 'webauthn.create', site)
  const made = await verifyAttestation(credential, challenge._id, site)
  if (claimed && !(isSame(claimed.x, made.x) && isSame(claimed.y, made.y)))
    throw new AppError('VALIDATION_ERROR', { message: 'The public key is not the one of the credential' })
  const account = await accountOfNewPasskey(made.credentialId, challenge, input, context)
  const passkey: Passkey = {
    _id: newId(),
    user_address: account,
    credential_id: made.credentialId,
    public_key_x: made.x,
    public_key_y: made.y,
    rp_id: site.rpId,
    counter: made.counter,
    user_handle: challenge.user_handle,
    display_name: input.displayName ?? challenge.display_name,
    aaguid: made.aaguid,
    transports: credential.response.transports ?? [],
    backed_up: made.backedUp,
    user_agent: context.caller.userAgent,
    created_at: new Date(node.now()),
    last_used_at: null,
  }
  const isNew = (await accountOf(account)) === null
  await storePasskey(passkey)
  if (!isNew)
    await notifyOfChange(context, account, { change: 'added', method: 'passkey', identifier: passkeyNameOf(passkey) })
  return signInWith(context, passkey, isSameAccount(context.caller.account, account))
}

const isSame = (encoded: Point['x'], hex: string) =>
  Buffer.from(encoded, 'base64url').equals(Buffer.from(hex.slice(2), 'hex'))
