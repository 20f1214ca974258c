import { type FormEvent, useEffect, useState } from 'react'
import type { OwnAgent } from '#shared/api/agents/agent-records'
import { type NetworkFacts, networks, type PaymentNetwork, priceText } from '#shared/api/payments/payment-networks'
import type { Receipt } from '#shared/api/payments/payments'
import { linkTo } from '#shared/kit/pages'
import { useSession } from '../accounts/session.ts'
import { isGuest } from '../accounts/sign-in/guest.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, shortAddress } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useTell, useTellLatest } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import messagesStyles from '../messages/messages.module.css'
import { OuterLink } from '../messages/outer-link.tsx'
import { agentEditorTexts as t } from '../texts/agent-editor.ts'
import { walletTexts } from '../texts/wallet.ts'
import styles from './agents.module.css'

const pageSize = 20

/** What an agent has earned, and the payments that make up that sum, newest first. */
function EarningsPart({ id }: { id: string }) {
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

const networkTitle = ({ title, isReal }: NetworkFacts) =>
  t.price.networkOf({ name: title, money: isReal ? 'real' : 'test' })

const isShared = ({ visibility, public_access_enabled }: OwnAgent) =>
  public_access_enabled && (visibility === 'public' || visibility === 'official')

const priceOf = (agent: OwnAgent) => ({
  isOn: agent.x402_enabled,
  cents: `${agent.x402_price_cents ?? 1}`,
  network: agent.x402_network ?? ('base-sepolia' as const),
  wallet: agent.x402_wallet_address ?? '',
})

/** What an answer costs people who come from elsewhere, the code by which they ask, and what was earned. */
export function PricePart(props: {
  agent: OwnAgent
  onSaved: (agent: OwnAgent) => void
  /** Reports whether the form shows the stored price. */
  onKept: (isKept: boolean) => void
}) {
  const { agent, onSaved, onKept } = props
  const client = useClient()
  const { account } = useSession()
  const tell = useTellLatest()
  const stored = priceOf(agent)
  const [fields, setFields] = useState(stored)
  const isKept = JSON.stringify(fields) === JSON.stringify(stored)
  useEffect(() => onKept(isKept), [isKept, onKept])
  const [error, setError] = useState<unknown>(null)
  const set = (more: Partial<typeof fields>) => setFields({ ...fields, ...more })

  const fail = (cause: unknown) => {
    tell(null)
    setError(cause)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { isOn, cents, network, wallet } = fields
    if (isOn && !/^(0x[0-9a-f]{40})?$/i.test(wallet.trim())) return fail(new Error(t.faults.wallet))
    const price = {
      x402PriceCents: Number(cents),
      x402Network: network,
      x402WalletAddress: wallet.trim() || null,
    }
    client.agents.update({ id: agent.id, x402Enabled: isOn, ...(isOn ? price : {}) }).then(({ agent: saved }) => {
      setError(null)
      onSaved(saved)
      setFields(priceOf(saved))
      tell(t.saved)
    }, fail)
  }

  return (
    <div className="stack wide">
      <form className="stack" aria-label={t.price.title} onSubmit={submit}>
        <label className="check">
          <input
            type="checkbox"
            aria-describedby="price-hint"
            checked={fields.isOn}
            onChange={({ target }) => set({ isOn: target.checked })}
          />
          <span>{t.price.on}</span>
        </label>
        <p className="hint" id="price-hint">
          {t.price.hint}
          {!fields.isOn && ` ${t.price.freeHint}`}
        </p>
        {fields.isOn && (
          <>
            <label className="field">
              <span>{t.price.cents}</span>
              <input
                className="input"
                type="number"
                min={1}
                max={10_000}
                required
                value={fields.cents}
                onChange={({ target }) => set({ cents: target.value })}
              />
            </label>
            <label className="field">
              <span>{t.price.network}</span>
              <select
                className="input"
                value={fields.network}
                onChange={({ target }) => set({ network: target.value as PaymentNetwork })}
              >
                {Object.values(networks).map((facts) => (
                  <option key={facts.network} value={facts.network}>
                    {networkTitle(facts)}
                  </option>
                ))}
              </select>
            </label>
            <label className="field">
              <span>{t.price.wallet}</span>
              <input
                dir="auto"
                className="input"
                placeholder="0x"
                value={fields.wallet}
                onChange={({ target }) => set({ wallet: target.value })}
              />
              <small>{t.price.walletHint}</small>
            </label>
            {fields.wallet.trim() === '' && isGuest(account) && <GuestWalletWarning />}
          </>
        )}
        {fields.isOn && !isShared(agent) && <p className="hint">{t.price.notPublic}</p>}
        <Problem error={error} />
        <div className="row end">
          <button type="submit" className="button main small">
            {t.price.save}
          </button>
        </div>
      </form>
      {isShared(agent) && <ShareLink id={agent.id} />}
      {(agent.x402_enabled || agent.x402_message_count_paid > 0) && (
        <EarningsPart key={`earnings ${agent.updated_at}`} id={agent.id} />
      )}
      {agent.x402_enabled && <Embed key={agent.updated_at} id={agent.id} />}
    </div>
  )
}

const snippets = ['embed', 'sdk', 'curl'] as const

const embedWords = { X402_NOT_ENABLED: t.price.noPayee }

function Embed({ id }: { id: string }) {
  const client = useClient()
  const tell = useTell()
  const { value, error, reload } = useLoaded(id, () => client.payments.embed({ id }))
  if (error) return <Problem error={error} words={embedWords} onRetry={reload} />
  if (value === null) return <Skeleton rows={3} />
  const { pricing, code } = value
  return (
    <>
      {!pricing.payable && (
        <p className="banner">{t.price.unpayable({ network: networkTitle(networks[pricing.network]) })}</p>
      )}
      {pricing.simulated && <p className="banner">{t.price.simulated}</p>}
      {snippets.map((name) => (
        <div key={name} className="stack">
          <div className="row">
            <span className="label grow">{t.snippets[name]}</span>
            <ActButton
              className="button small"
              aria-label={t.price.copyCode({ title: t.snippets[name] })}
              onPress={async () => {
                await navigator.clipboard.writeText(code[name])
                tell(t.copied)
              }}
            >
              {t.copy}
            </ActButton>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll the block. */}
          <pre className={`${messagesStyles.codeBlock} ${styles.embedCode}`} dir="ltr" tabIndex={0}>
            <code>{code[name]}</code>
          </pre>
        </div>
      ))}
    </>
  )
}

/** The address of an agent's page, which its owner can give to anybody. */
function ShareLink({ id }: { id: string }) {
  const tell = useTell()
  const address = location.origin + linkTo('agent', { agent: id })
  const copy = async () => {
    await navigator.clipboard.writeText(address)
    tell(t.copied)
  }
  return (
    <section className="stack" aria-labelledby="page-of-agent">
      <h2 id="page-of-agent" className="label">
        {t.price.page}
      </h2>
      <div className="row wrap">
        <a className="grow page-address" href={address} target="_blank" rel="noopener" dir="ltr">
          {address}
        </a>
        <ActButton className="button small" aria-label={t.price.copyPage} onPress={copy}>
          {t.copy}
        </ActButton>
      </div>
    </section>
  )
}

/** Whoever entered as a guest has a key that nobody can bring back. */
function GuestWalletWarning() {
  return (
    <p className="banner" role="note">
      <Icon name="warn" />
      {walletTexts.guestWarning}
    </p>
  )
}
