import { useState } from 'react'
import { networks, priceText } from '#shared/api/payments/payment-networks'
import type { Receipt } from '#shared/api/payments/payments'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, shortAddress } from '../kit/format.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { OuterLink } from '../messages/outer-link.tsx'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
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
          {t.earnings.title}
        </h2>
        <button type="button" className="button small" onClick={reload}>
          {t.earnings.refresh}
        </button>
      </div>
      <Problem error={error} onRetry={reload} />
      <p>
        {t.earnings.sum({ amount: priceText(stats.totalEarnings), count: stats.paidMessages })}
        {stats.simulatedEarnings > 0 && ` ${t.earnings.simulatedSum({ amount: priceText(stats.simulatedEarnings) })}`}
      </p>
      {receipts.length === 0 ? (
        <p className="hint">{t.earnings.none}</p>
      ) : (
        <ul className={styles.agentItems} aria-label={t.earnings.list}>
          {receipts.map((receipt) => (
            <ReceiptRow key={receipt.id} receipt={receipt} />
          ))}
        </ul>
      )}
      {hasOlder && (
        <ActButton className="button small plain" onPress={older}>
          {t.earnings.older}
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
        {t.earnings.from({
          amount: priceText(cents),
          b: (amount) => <strong className="numerals">{amount}</strong>,
          payer: () => (
            <code title={payer} dir="ltr">
              {shortAddress(payer)}
            </code>
          ),
        })}
        <small className={styles.receiptFacts}>
          <time dateTime={at}>{fullTimeOf(at)}</time>
          <span>{title}</span>
          {simulated && <span>{t.earnings.simulated}</span>}
          {transaction && !simulated && (
            <OuterLink href={`${explorer}/tx/${transaction}`}>{shortAddress(transaction)}</OuterLink>
          )}
        </small>
      </span>
      {state !== 'settled' && <span className={styles.itemState}>{t.earnings.unsettled}</span>}
    </li>
  )
}
