import type { Client, SignInUser } from '#client/sdk/types'
import { useClient } from '../../connection/client.ts'
import { Icon } from '../../kit/icon.tsx'
import { Blank, Problem } from '../../kit/notice.tsx'
import { signInTexts as t } from '../../texts/sign-in.ts'
import type { Entering } from './entering.ts'
import { type FoundWallet, useWallets } from './wallets.ts'

/** Signs in by signing a message with a wallet of this browser. */
export function WalletWay({ entering }: { entering: Entering }) {
  const client = useClient()
  const wallets = useWallets()
  const { busy, error, attempt } = entering
  if (wallets.length === 0)
    return (
      <Blank icon="wallet" title={t.wallet.none}>
        <p>{t.wallet.noneHint}</p>
      </Blank>
    )
  return (
    <div className="stack">
      <p>{t.wallet.hint}</p>
      <Problem error={error} />
      <div className="row wrap">
        {wallets.map((wallet) => (
          <button
            key={wallet.id}
            type="button"
            className="button main"
            disabled={busy !== null}
            onClick={() => void attempt(wallet.id, () => enterBy(client, wallet))}
          >
            <Icon name="wallet" />
            {busy === wallet.id ? t.wallet.waiting : wallet.name}
          </button>
        ))}
      </div>
    </div>
  )
}

async function enterBy(client: Client, { kind, open }: FoundWallet): Promise<SignInUser> {
  const wallet = await open()
  if (kind === 'ethereum') return client.signIn(wallet)
  const { address, signMessage } = wallet
  const { message } = await client.identity.beginSolana({ address })
  const signature = await signMessage(message)
  return client.enter(await client.identity.verifySolana({ address, message, signature }))
}

/** Adds a wallet as another way to sign in to the current account. */
export async function linkWallet(client: Client, { kind, open }: FoundWallet): Promise<void> {
  const { address, signMessage } = await open()
  if (kind === 'ethereum') {
    const { message } = await client.identity.begin({ address })
    await client.identities.linkWallet({ address, message, signature: await signMessage(message) })
  } else {
    const { message } = await client.identity.beginSolana({ address })
    await client.identities.linkSolana({ address, message, signature: await signMessage(message) })
  }
}
