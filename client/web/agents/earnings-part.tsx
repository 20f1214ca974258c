import { useState } from 'react'
import { networks, priceText } from '#shared/api/payments/payment-networks'
import type { Receipt } from '#shared/api/payments/payments'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, plural, shortAddress } from '../kit/format.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { OuterLink } from '../messages/outer-link.tsx'
import styles from './agents.module.css'

const pageSize = 20

/** What an agent has earned, and the payments that make up that sum, newest first. */
export function EarningsPart({ id }: { id: string }) {
  const client = useClient()
  const [hasOlder, setHasOlder] = useState(false)
  const loaded = useLoaded(id, async () => {
    const page = await client.payments.receipts({ id, limit: pageSize })
    setHasOlder(page.receipts.length === pageSize)
    return page
  })
  const { value, error, reload } = loaded
  if (value === null) return error ? <Problem error={error} onRetry={reload} /> : <Skeleton rows={3} />
  const { receipts, stats } = value
  const older = async () => {
    const before = receipts.at(-1)?.id
    const page = await client.payments.receipts({ id, limit: pageSize, ...(before && { before }) })
    setHasOlder(page.receipts.length === pageSize)
    loaded.change((known) => ({ ...known, receipts: [...known.receipts, ...page.receipts] }))
  }

  return (
    <section className="stack" aria-labelledby="earnings">
      <div className="row">
        <h2 id="earnings" className="label grow">
          Earnings
        </h2>
        <button type="button" className="button small" onClick={reload}>
          Look again
        </button>
      </div>
      <Problem error={error} onRetry={reload} />
      <p>
        Earned {priceText(stats.totalEarnings)} by {plural(stats.paidMessages, 'paid answer')}.{' '}
        {stats.simulatedEarnings > 0 && `${priceText(stats.simulatedEarnings)} of it was simulated.`}
      </p>
      {receipts.length === 0 ? (
        <p className="hint">Nobody has paid for an answer yet. Each payment is listed here.</p>
      ) : (
        <ul className={styles.agentItems} aria-label="Receipts">
          {receipts.map((receipt) => (
            <ReceiptRow key={receipt.id} receipt={receipt} />
          ))}
        </ul>
      )}
      {hasOlder && (
        <ActButton className="button small plain" onPress={older}>
          Older receipts
        </ActButton>
      )}
    </section>
  )
}

function ReceiptRow({ receipt }: { receipt: Receipt }) {
  const { cents, payer, network, transaction, simulated, state, created_at, settled_at } = receipt
  const { title, explorer } = networks[network]
  const at = settled_at ?? created_at
  return (
    <li>
      <span className="grow">
        <strong className="numerals">{priceText(cents)}</strong> from{' '}
        <code title={payer} dir="ltr">
          {shortAddress(payer)}
        </code>
        <small className={styles.receiptFacts}>
          <time dateTime={at}>{fullTimeOf(at)}</time>
          <span>{title}</span>
          {simulated && <span>simulated</span>}
          {transaction && !simulated && (
            <OuterLink href={`${explorer}/tx/${transaction}`}>{shortAddress(transaction)}</OuterLink>
          )}
        </small>
      </span>
      {state !== 'settled' && <span className={styles.itemState}>Not settled yet</span>}
    </li>
  )
}
