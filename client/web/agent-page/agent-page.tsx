import { linkTo } from '#shared/kit/pages'
import '../kit/frame.css'
import { useEffect } from 'react'
import { networks, priceText } from '#shared/api/payments/payment-networks'
import { ThemeButton } from '../accounts/appearance/theme-button.tsx'
import { Wordmark } from '../accounts/welcome/wordmark.tsx'
import { AgentPicture } from '../agents/agent-picture.tsx'
import agentsStyles from '../agents/agents.module.css'
import { useAccount, useClient } from '../connection/client.ts'
import { useKeptFocus } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import styles from './agent-page.module.css'
import { FreeView } from './free-view.tsx'
import { Notice } from './notice.tsx'
import { PaidView } from './paid-view.tsx'
import type { Pricing, PublicAgent } from './public-agent.ts'

const words: ProblemWords = {
  AGENT_NOT_FOUND: t.problems.notFound,
  AGENT_GONE: t.problems.gone,
  AGENT_NOT_PUBLIC: t.problems.notPublic,
}

/** The page of a public agent, at an address that can be given to anybody: `/agents/:id`. */
export function AgentPage({ id }: { id: string }) {
  const client = useClient()
  useKeptFocus()
  const { value, error, isLoading, reload } = useLoaded(id, async () => {
    const agent = await client.payments.agent({ id })
    return { agent, pricing: (await client.payments.info({ id })).pricing }
  })
  const name = value?.agent.name
  useEffect(() => {
    if (name === undefined) return
    document.title = `${name} · Plaza`
  }, [name])

  return (
    <main className={`room ${agentsStyles.agentRoom} ${agentsStyles.agentPage}`} aria-label={name ?? t.title}>
      {value ? (
        <Loaded {...value} />
      ) : (
        <>
          <Head />
          {error && !isLoading ? (
            <Blank icon="warn" title={t.notOpened}>
              <LoadProblem error={error} words={words} />
              <button type="button" className="button small" onClick={reload}>
                {t.retry}
              </button>
            </Blank>
          ) : (
            <Skeleton rows={9} label={t.loadingAgent} />
          )}
        </>
      )}
    </main>
  )
}

function Loaded({ agent, pricing }: { agent: PublicAgent; pricing: Pricing }) {
  const account = useAccount()
  const { enabled, network, payable = false, simulated = false } = pricing
  if (!enabled || network === undefined)
    return (
      <>
        <Head agent={agent} facts={t.visitor.free} />
        <FreeView agent={agent} />
      </>
    )
  const money = networks[network].isReal ? 'real' : 'test'
  return (
    <>
      <Head agent={agent} facts={t.visitor.price({ money, price: priceText(pricing.priceCents ?? 0) })} />
      <Notice isScripted={agent.scripted} isSimulated={simulated} />
      {account !== null && (
        <p className={`hint ${agentsStyles.agentPageFoot}`}>
          {t.visitor.signedIn({ a: (words) => <a href={linkTo('agentChat', { agent: agent.id })}>{words}</a> })}
        </p>
      )}
      {payable ? (
        <PaidView agent={agent} simulated={simulated} />
      ) : (
        <Blank icon="warn" title={t.visitor.unpayable}>
          <p role="alert">{t.visitor.unpayableHint({ money })}</p>
        </Blank>
      )}
    </>
  )
}

function Head({ agent, facts }: { agent?: PublicAgent; facts?: string }) {
  return (
    <header className="room-head agent-head">
      {agent && <AgentPicture emoji={agent.avatar_emoji} picture={agent.avatar_url} />}
      <div className="grow">
        <h1 tabIndex={-1}>{agent ? isolated(agent.name) : t.title}</h1>
        {facts && <p className="room-facts">{facts}</p>}
      </div>
      <ThemeButton />
      <a className={styles.agentPageHome} href={linkTo('home')} aria-label="Plaza" title="Plaza">
        <Wordmark />
      </a>
    </header>
  )
}
