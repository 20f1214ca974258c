import { networks } from '#shared/api/payments/payment-networks'
import { shortAddress } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { priceTexts as t } from '../texts/prices.ts'
import { amountText, type Offer, type Payer, usePayers } from './offer.ts'
import styles from './price-card.module.css'

/** Of a payment that is refused without a price: an invalid payment is reported together with the price. */
export const paymentWords: ProblemWords = t.problems

const pricedWords: ProblemWords = { ...paymentWords, INVALID_PAYMENT: t.refused }

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
    <section className={styles.priceCard} aria-label={t.costs({ what })}>
      <p className={styles.price}>
        {t.price({ what, amount: amountText(offer.amount), b: (amount) => <strong>{amount}</strong> })}
      </p>
      <p className="hint">
        {t.payee({
          money: isReal ? 'real' : 'test',
          network: title,
          payee: () => (
            <code title={offer.payTo} dir="ltr">
              {shortAddress(offer.payTo)}
            </code>
          ),
        })}
      </p>
      <Problem error={problem} words={pricedWords} />
      {payers.length === 0 && <p className="hint">{t.noWallet}</p>}
      <div className="row wrap">
        {payers.map((payer) => (
          <button key={payer.id} type="button" className="button main" onClick={() => props.onPay(payer)}>
            <Icon name="wallet" />
            {payer.id === 'test' ? t.payTest : t.payWith({ name: payer.name })}
          </button>
        ))}
        <button type="button" className="button" onClick={props.onLeave}>
          {t.notNow}
        </button>
      </div>
      {simulated && <p className="hint">{t.testHint}</p>}
    </section>
  )
}
