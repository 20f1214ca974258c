import { networks } from '#shared/api/payments/payment-networks'
import { type EthereumWallet, type FoundWallet, useWallets } from '../accounts/sign-in/wallets.ts'
import { priceTexts as t } from '../texts/prices.ts'
import { envelopeOf, type Offer, type Transfer, transferFor } from './offer.ts'

/** What may sign a payment. */
export interface Payer {
  id: string
  name: string
  /** Signs the transfer, and returns the payment as it is sent. */
  sign(offer: Offer): Promise<string>
}

/** The wallets of this browser that can pay for an offer; where nothing is settled, a test wallet as well. */
export function usePayers(offersTest: boolean): readonly Payer[] {
  const wallets = useWallets().flatMap((found) => (found.kind === 'ethereum' ? walletPayer(found) : []))
  return offersTest ? [...wallets, testPayer] : wallets
}

const walletPayer = ({ id, name, open }: Extract<FoundWallet, { kind: 'ethereum' }>): Payer => ({
  id,
  name,
  async sign(offer) {
    const wallet = await open()
    return signed(offer, wallet.address, (data) => typedBy(wallet, data))
  },
})

const word = (name: string, type: string) => ({ name, type })
const domainTypes = [
  word('name', 'string'),
  word('version', 'string'),
  word('chainId', 'uint256'),
  word('verifyingContract', 'address'),
]

const typedBy = (wallet: EthereumWallet, { types, ...data }: Transfer): Promise<string> =>
  wallet.signTypedData(data.domain.chainId, JSON.stringify({ ...data, types: { EIP712Domain: domainTypes, ...types } }))

async function signed(offer: Offer, address: string, sign: (data: Transfer) => Promise<string>): Promise<string> {
  const { authorization, data } = transferFor(offer, address as `0x${string}`)
  return envelopeOf(offer.network, await sign(data), authorization)
}

const testKey = 'plaza.test-wallet'

/** A key in local storage, which is worth nothing: what it signs is checked, and settled nowhere. */
const testPayer: Payer = {
  id: 'test',
  name: t.testWallet,
  async sign(offer) {
    if (networks[offer.network].isReal) throw new Error(t.testIsNotReal)
    const { generatePrivateKey, privateKeyToAccount } = await import('viem/accounts')
    const kept = localStorage.getItem(testKey)
    const key = kept && /^0x[0-9a-f]{64}$/.test(kept) ? (kept as `0x${string}`) : generatePrivateKey()
    localStorage.setItem(testKey, key)
    const account = privateKeyToAccount(key)
    return signed(offer, account.address, ({ message, ...data }) => {
      const { value, validAfter, validBefore, ...rest } = message
      const units = { value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }
      return account.signTypedData({ ...data, message: { ...rest, ...units } })
    })
  },
}
