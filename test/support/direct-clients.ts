import { expect } from 'vitest'
import { createClient } from '#client/sdk/client'
import { type KeyStore, memoryKeys } from '#client/sdk/direct/store'
import { memoryStorage } from '#client/sdk/storage'
import type { Client, LiveRoom } from '#client/sdk/types'
import { dmOf } from '#shared/kit/primitives'
import type { Booted } from './boot.ts'
import { wallet } from './wallet.ts'

/** A signed-in client with a wallet of this name, whose device is verified unless switched off. */
export async function clientOf(
  { url }: Pick<Booted, 'url'>,
  name: string,
  {
    keys = memoryKeys(),
    isVouched = true,
    isLowered = false,
  }: { keys?: KeyStore | null; isVouched?: boolean; isLowered?: boolean } = {},
): Promise<Client & { account: string }> {
  const client = createClient({ url, storage: memoryStorage(), ...(keys && { keys }) })
  const { address, signMessage } = wallet(name)
  const signer = {
    // Libraries of wallets give it in mixed case (EIP-55).
    address: isLowered ? address.toLowerCase() : address,
    signMessage: (message: string) => signMessage({ message }),
  }
  await client.signIn({ ...signer, isInteractive: !isVouched })
  await expect.poll(() => client.connection.state, { timeout: 10_000 }).toBe('online')
  return client as Client & { account: string }
}

/** The conversation of two people, as one of them has it. */
export const conversationOf = (one: { account: string } & Pick<Client, 'room'>, other: { account: string }): LiveRoom =>
  one.room(dmOf(one.account, other.account))

/** The texts that a room shows. */
export const textsOf = ({ state }: LiveRoom) =>
  state.messages.map(({ content, secrecy }) => (secrecy?.state === 'locked' ? `locked: ${secrecy.why}` : content))

export const shows = (room: LiveRoom, ...texts: string[]) =>
  expect.poll(() => textsOf(room), { timeout: 15_000 }).toEqual(texts)

/** How far the other devices of a conversation are trusted. */
export const devicesIn = ({ state }: LiveRoom) => state.direct?.devices.map((device) => device.state)
