import type { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import type { Client, SignInUser } from '#client/sdk/types'

type CreationOptions = Parameters<typeof startRegistration>[0]['optionsJSON']
type RequestOptions = Parameters<typeof startAuthentication>[0]['optionsJSON']

export const canUsePasskeys = (): boolean => typeof PublicKeyCredential === 'function'

/** Signs in with whichever passkey of this site the person chooses. */
export async function enterByPasskey(client: Client): Promise<SignInUser> {
  const { options } = await client.passkeys.beginLogin({})
  const { startAuthentication } = await device()
  const credential = await startAuthentication({ optionsJSON: options as RequestOptions })
  return client.enter(await client.passkeys.login({ credential, challenge: options.challenge }))
}

/** Creates a passkey: for the account that is signed in, for the one that a recovery token opens, or for a new one. */
export async function createPasskey(client: Client, recoveryToken?: string): Promise<SignInUser> {
  const recovery = recoveryToken === undefined ? {} : { recoveryToken }
  const { options } = await client.passkeys.beginRegistration(recovery)
  const { startRegistration } = await device()
  const credential = await startRegistration({ optionsJSON: options as CreationOptions })
  return client.enter(await client.passkeys.register({ credential, challenge: options.challenge, ...recovery }))
}

const device = () => import('./device.ts')
