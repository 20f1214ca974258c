import { useState } from 'react'
import { AppError } from '#shared/errors'
import { useClient } from '../../connection/client.ts'
import { Blank, Problem, Skeleton } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { walletTexts as t } from '../../texts/wallet.ts'
import styles from '../accounts.module.css'

/** The smart account: its address on the chain, and what it holds. */
export function SmartAccount({ onMakePasskey }: { onMakePasskey: () => void }) {
  const client = useClient()
  const tell = useTell()
  const account = useLoaded('smart-account', () => client.wallet.smartWallet())
  if (account.error) return <Problem error={account.error} onRetry={account.reload} />
  if (!account.value) return <Skeleton rows={4} label={t.loading} />
  const { smartWalletAddress: address, isDeployed, signerType, warning, safeAppUrl } = account.value

  if (address === null)
    return (
      <Blank icon="wallet" title={t.empty}>
        <p>{t.emptyHint}</p>
        <button type="button" className="button main" onClick={onMakePasskey}>
          {t.addPasskey}
        </button>
      </Blank>
    )
  const copy = () =>
    navigator.clipboard.writeText(address).then(
      () => tell(t.copied),
      () => tell(t.notCopied),
    )
  return (
    <section className="stack" aria-label={t.title}>
      <dl className={styles.pairs}>
        <dt>{t.address}</dt>
        <dd className="row wrap">
          <code className={styles.address}>{address}</code>
          <button type="button" className="button small" onClick={() => void copy()}>
            {t.copy}
          </button>
        </dd>
        <dt>{t.signer}</dt>
        <dd>{t.signers[signerType]}</dd>
        <dt>{t.chain}</dt>
        <dd>{isDeployed ? t.deployed : t.notDeployed}</dd>
      </dl>
      {warning && <p className="hint">{warning}</p>}
      {safeAppUrl && (
        <p>
          <a href={safeAppUrl} target="_blank" rel="noreferrer">
            {t.safe}
          </a>
        </p>
      )}
      <Balances address={address} />
    </section>
  )
}

function Balances({ address }: { address: string }) {
  const client = useClient()
  const [isAsked, setAsked] = useState(false)
  if (!isAsked)
    return (
      <div className="row">
        <button type="button" className="button" onClick={() => setAsked(true)}>
          {t.balances}
        </button>
      </div>
    )
  return <Holdings address={address} load={() => client.wallet.balances({ address })} />
}

type Balance = Awaited<ReturnType<ReturnType<typeof useClient>['wallet']['balances']>>

function Holdings(props: { address: string; load: () => Promise<Balance> }) {
  const holdings = useLoaded(props.address, props.load)
  if (holdings.error instanceof AppError && holdings.error.code === 'SERVICE_UNAVAILABLE')
    return <p className="hint">{holdings.error.message}</p>
  if (holdings.error) return <Problem error={holdings.error} onRetry={holdings.reload} />
  if (!holdings.value) return <Skeleton rows={3} label={t.balancesLoading} />
  const rows = holdings.value.balances.flatMap(({ chain, nativeBalance, tokens, error }) =>
    error !== undefined
      ? [{ key: `${chain.id}`, what: chain.name, how: t.unavailable }]
      : [...(nativeBalance ? [nativeBalance] : []), ...tokens].map(({ symbol, contractAddress, balanceFormatted }) => ({
          key: `${chain.id} ${contractAddress}`,
          what: t.balanceOn({ symbol, chain: chain.name }),
          how: balanceFormatted,
        })),
  )
  return (
    <dl className={styles.pairs}>
      {rows.map(({ key, what, how }) => (
        <div key={key}>
          <dt>{what}</dt>
          <dd>{how}</dd>
        </div>
      ))}
    </dl>
  )
}
