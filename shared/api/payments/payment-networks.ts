/** The price of the most expensive answer. */
export const highestPriceCents = 10_000

export interface NetworkFacts {
  network: PaymentNetwork
  title: string
  chainId: number
  /** USDC, of 6 decimals, whose EIP-712 names differ between the networks. */
  asset: `0x${string}`
  name: string
  version: string
  /** Where its transactions are shown, at `/tx/:hash`. */
  explorer: string
  /** Its money is worth something. */
  isReal: boolean
}

const declared = {
  base: {
    network: 'base',
    title: 'Base',
    chainId: 8453,
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    name: 'USD Coin',
    version: '2',
    explorer: 'https://basescan.org',
    isReal: true,
  },
  'base-sepolia': {
    network: 'base-sepolia',
    title: 'Base Sepolia',
    chainId: 84_532,
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    name: 'USDC',
    version: '2',
    explorer: 'https://sepolia.basescan.org',
    isReal: false,
  },
} as const

export type PaymentNetwork = keyof typeof declared
export const networks: Readonly<Record<PaymentNetwork, NetworkFacts>> = declared
export const paymentNetworks = Object.keys(declared) as readonly PaymentNetwork[]

/** What a payer signs (EIP-712 over EIP-3009). */
export const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export const domainOf = ({ name, version, chainId, asset }: NetworkFacts) => ({
  name,
  version,
  chainId,
  verifyingContract: asset,
})

const unitsOfCent = 10_000n
export const unitsOf = (cents: number): string => String(BigInt(cents) * unitsOfCent)
/** So many times the price may be paid; what is more is a mistake, and refused. */
export const overpaidTimes = 10n
const mostUnits = BigInt(highestPriceCents) * unitsOfCent * overpaidTimes
/** What counts of one payment: records of older versions may say any amount, also of test money that nobody has. */
export function unitsPaid(value: string): bigint {
  const units = BigInt(value)
  return units < mostUnits ? units : mostUnits
}
/** Whole cents; what is paid beyond them is not counted. */
export const centsOf = (units: string): number => Number(BigInt(units) / unitsOfCent)

/** `$0.05` */
export const priceText = (cents: number): string => `$${(cents / 100).toFixed(2)}`
