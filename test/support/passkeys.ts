import { expect } from 'vitest'
import { z } from 'zod'
import { Authenticator, type Ways } from './authenticator.ts'
import { call } from './wallet.ts'

const Begun = z.looseObject({ challenge: z.string(), user: z.object({ id: z.string() }).optional() })
const SignedIn = z.looseObject({ sessionToken: z.string(), userAddress: z.string(), credentialId: z.string() })
type SignedIn = z.infer<typeof SignedIn>

export const post = (url: string, path: string, body: object, token?: string) =>
  call(url, `POST /api/passkey/${path}`, body, token)

/** Options for a new passkey. */
export async function beginRegistration(url: string, body: object = {}, token?: string) {
  const answer = await post(url, 'register/options', body, token)
  expect(answer.body).toMatchObject({ challenge: expect.any(String) })
  return Begun.parse(answer.body)
}

export async function beginLogin(url: string, body: object = {}): Promise<string> {
  return Begun.parse((await post(url, 'login/options', body)).body).challenge
}

/** A new passkey, stored and signed in: of a new account, or with a token of that account. */
export async function enrol(
  url: string,
  key: Authenticator = new Authenticator(),
  { token, ...body }: { token?: string; recoveryToken?: string; displayName?: string } = {},
): Promise<SignedIn & { key: Authenticator }> {
  const { challenge } = await beginRegistration(url, body, token)
  const answer = await post(url, 'register/verify', { credential: key.create(challenge), ...body }, token)
  return { key, ...SignedIn.parse(answer.body) }
}

/** Signs in with a passkey, in one of its ways. */
export async function signInBy(url: string, key: Authenticator, ways: Ways = {}, body: object = {}) {
  return post(url, 'login/verify', { credential: key.get(await beginLogin(url, body), ways) })
}
