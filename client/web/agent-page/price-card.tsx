import { networks } from '#shared/api/payments/payment-networks'
import { shortAddress } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { amountText, type Offer } from './offer.ts'
import { type Payer, usePayers } from './payers.ts'
import styles from './price-card.module.css'

/** Of a payment that is refused without a price: one that is not valid is told together with what is to be paid. */
export const paymentWords: ProblemWords = {
  INVALID_PAYMENT:
    'This payment was made for something else, and is good for that alone. Nothing of it was spent here: try again, and pay for this by itself.',
  WRONG_NETWORK: 'The payment was for another network. Nothing was charged.',
  INSUFFICIENT_PAYMENT: 'The wallet has too little USDC, or the price has changed. Nothing was charged.',
  PAYMENT_EXPIRED: 'The payment came too late. Nothing was charged. If this repeats, check the clock of this device.',
  X402_PAYMENT_FAILED: 'The payment could not be carried out. Nothing was charged.',
  X402_NOT_ENABLED: 'This agent is not paid for any more. Reload the page to ask it.',
  AGENT_NOT_PUBLIC: 'This agent is not public any more.',
  AGENT_NOT_FOUND: 'This agent was deleted.',
}

const pricedWords: ProblemWords = {
  ...paymentWords,
  INVALID_PAYMENT: 'The server did not accept this payment. Nothing was charged.',
}

/** What something costs, and the wallets that can pay for it. */
export function PriceCard(props: {
  what: 'answer' | 'call'
  offer: Offer
  simulated: boolean
  problem: unknown
  onPay: (payer: Payer) => void
  onLeave: () => void
}) {
  const { what, offer, simulated, problem } = props
  const { title, isReal } = networks[offer.network]
  const payers = usePayers(simulated)
  return (
    <section className={styles.priceCard} aria-label={`What this ${what} costs`}>
      <p className={styles.price}>
        <strong>{amountText(offer.amount)}</strong> for this {what}
      </p>
      <p className="hint">
        In USDC on {title}
        {isReal ? '' : ' (test money)'}, paid to{' '}
        <code title={offer.payTo} dir="ltr">
          {shortAddress(offer.payTo)}
        </code>
        .
      </p>
      <Problem error={problem} words={pricedWords} />
      {payers.length === 0 && (
        <p className="hint">
          There is no wallet in this browser. Add the extension of a wallet, or open this page in the browser of your
          wallet app.
        </p>
      )}
      <div className="row wrap">
        {payers.map((payer) => (
          <button key={payer.id} type="button" className="button main" onClick={() => props.onPay(payer)}>
            <Icon name="wallet" />
            Pay with {payer.id === 'test' ? 'a test wallet' : payer.name}
          </button>
        ))}
        <button type="button" className="button" onClick={props.onLeave}>
          Not now
        </button>
      </div>
      {simulated && (
        <p className="hint">
          The test wallet is a key that is made and kept in this browser. It holds nothing: this server checks what it
          signs, and no money moves.
        </p>
      )}
    </section>
  )
}
