import type { Facilitator } from './port.ts'

/**
 * Settles nowhere: nothing is sent to a chain, and nobody's balance is looked at. What a payment says of itself (payee, amount, time and
 * signature) has been judged before a facilitator is asked.
 */
export const localFacilitator: Facilitator = {
  isSimulated: true,
  verify: async ({ authorization: { to, value } }, { payTo, amount }) =>
    to.toLowerCase() !== payTo.toLowerCase() ? 'invalid' : BigInt(value) < BigInt(amount) ? 'funds' : null,
  settle: async () => ({ state: 'settled', transaction: null }),
}
