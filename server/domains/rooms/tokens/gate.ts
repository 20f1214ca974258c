import { getAddress, type Hex, isHex } from 'viem'
import { defineGate } from '#server/domains/rooms/gates/define'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { amountText } from '#shared/kit/amounts'
import { balancesOf } from './balances.ts'
import { walletsOf } from './wallets.ts'

export const balanceGate = defineGate('balance', {
  lasts: () => true,
  async check({ node, account, gate, fresh }) {
    const { chain_id, token_decimals, token_symbol, min_balance } = gate
    const shown = (amount: bigint) => `${amountText(amount, token_decimals)} ${token_symbol}`
    const required = BigInt(min_balance)
    const wallets = await walletsOf(account)
    const found = await balancesOf(chainOf(node, chain_id), tokenOf(gate), wallets, fresh)
    const total = found.reduce((sum, { amount }) => sum + amount, 0n)
    const passed = total >= required
    return {
      passed,
      text: passed ? `You hold ${shown(total)}` : `You need ${shown(required)} and hold ${shown(total)}`,
      checked: found.map(({ address, amount, ageSeconds }) => ({
        requirement: `at least ${shown(required)} in all`,
        subject: address,
        result: shown(amount),
        source: `chain ${chain_id}`,
        cached_age_s: ageSeconds,
      })),
      details: {
        required: min_balance,
        actual: String(total),
        symbol: token_symbol,
        breakdown: found.map(({ label, amount }) => ({ label, balance: String(amount) })),
        walletsChecked: found.length,
      },
    }
  },
})

export function chainOf({ services }: Node, id: number) {
  const chain = services.chains.get(id)
  if (!chain) throw new AppError('SERVICE_UNAVAILABLE', { message: `No chain can be asked: RPC_URL_${id} is not set` })
  return chain
}

const tokenOf = ({ token_address }: { token_address: string }): Hex => {
  if (!isHex(token_address)) throw new Error('A stored token has no address')
  return getAddress(token_address)
}
