import type { Facilitator } from './port.ts'

/** Simulates settlements without a chain or balances; the payment's own claims are judged before. */
export const localFacilitator: Facilitator = {
  isSimulated: true,
  verify: async ({ authorization: { to, value } }, { payTo, amount }) =>
    to.toLowerCase() !== payTo.toLowerCase() ? 'invalid' : BigInt(value) < BigInt(amount) ? 'funds' : null,
  settle: async () => ({ state: 'settled', transaction: null }),
}
