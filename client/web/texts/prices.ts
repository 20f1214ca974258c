import { textCatalog } from './catalog.ts'

/** What an answer or a call costs, and how it is paid. */
export const priceTexts = textCatalog('prices', {
  costs: '{what, select, call {What this call costs} other {What this answer costs}}',
  price: '{what, select, call {<b>{amount}</b> for this call} other {<b>{amount}</b> for this answer}}',
  payee:
    '{money, select, real {In USDC on {network}, paid to <payee></payee>.} other {In USDC on {network} (test money), paid to <payee></payee>.}}',
  noWallet:
    'There is no wallet in this browser. Add the extension of a wallet, or open this page in the browser of your wallet app.',
  payWith: 'Pay with {name}',
  payTest: 'Pay with a test wallet',
  notNow: 'Not now',
  testHint:
    'The test wallet is a key that this browser makes and keeps. It is empty: this server only checks the signature, and no money moves.',
  testWallet: 'Test wallet',
  testIsNotReal: 'The test wallet has no real money.',
  refused: 'The server did not accept this payment. Nothing was charged.',
  /** Refusals of a payment that name no price. */
  problems: {
    INVALID_PAYMENT:
      'This payment was made for something else and is only valid for that. Nothing was charged here: try again with a new payment.',
    WRONG_NETWORK: 'The payment was for another network. Nothing was charged.',
    INSUFFICIENT_PAYMENT: 'The wallet has too little USDC, or the price has changed. Nothing was charged.',
    PAYMENT_EXPIRED: 'The payment came too late. Nothing was charged. If this repeats, check the clock of this device.',
    X402_PAYMENT_FAILED: 'The payment failed. Nothing was charged.',
    X402_NOT_ENABLED: 'This agent is free now. Reload the page to ask it.',
    AGENT_NOT_PUBLIC: 'This agent is no longer public.',
    AGENT_NOT_FOUND: 'This agent was deleted.',
  },
})
