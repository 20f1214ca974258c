import { linkTo } from '#shared/kit/pages'
import '../kit/frame.css'
import { useEffect } from 'react'
import { networks, priceText } from '#shared/api/payments/payment-networks'
import { ThemeButton } from '../accounts/theme-button.tsx'
import { Wordmark } from '../accounts/wordmark.tsx'
import { AgentPicture } from '../agents/agent-picture.tsx'
import agentsStyles from '../agents/agents.module.css'
import { useAccount, useClient } from '../connection/client.ts'
import { useKeptFocus } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import styles from './agent-page.module.css'
import { FreeView } from './free-view.tsx'
import { Notice } from './notice.tsx'
import { PaidView } from './paid-view.tsx'
import type { Pricing, PublicAgent } from './public-agent.ts'

const words: ProblemWords = {
  AGENT_NOT_FOUND: 'There is no such agent. It may have been deleted.',
  AGENT_GONE: 'This agent was deleted with the account of its owner.',
  AGENT_NOT_PUBLIC: 'This agent is not public. Whoever gave you the link can say who may ask it.',
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
    <main className={`room ${agentsStyles.agentRoom} ${agentsStyles.agentPage}`} aria-label={name ?? 'Agent'}>
      {value ? (
        <Loaded {...value} />
      ) : (
        <>
          <Head />
          {error && !isLoading ? (
            <Blank icon="warn" title="This agent cannot be opened">
              <LoadProblem error={error} words={words} />
              <button type="button" className="button small" onClick={reload}>
                Try again
              </button>
            </Blank>
          ) : (
            <Skeleton rows={9} label="Loading the agent" />
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
        <Head agent={agent} facts="Answers are free" />
        <FreeView agent={agent} />
      </>
    )
  const { isReal } = networks[network]
  return (
    <>
      <Head
        agent={agent}
        facts={`${priceText(pricing.priceCents ?? 0)} an answer, in ${isReal ? 'USDC' : 'test money'}`}
      />
      <Notice isScripted={agent.scripted} isSimulated={simulated} />
      {account !== null && (
        <p className={`hint ${agentsStyles.agentPageFoot}`}>
          You are signed in: <a href={linkTo('agentChat', { agent: agent.id })}>ask it in Plaza</a>, where it costs you
          nothing.
        </p>
      )}
      {payable ? (
        <PaidView agent={agent} simulated={simulated} />
      ) : (
        <Blank icon="warn" title="Nothing can be paid here">
          <p role="alert">
            This server cannot take {isReal ? 'real money' : 'payments'}: no payment service is set up.
          </p>
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
        <h1 tabIndex={-1}>{agent ? isolated(agent.name) : 'Agent'}</h1>
        {facts && <p className="room-facts">{facts}</p>}
      </div>
      <ThemeButton />
      <a className={styles.agentPageHome} href={linkTo('home')} aria-label="Plaza" title="Plaza">
        <Wordmark />
      </a>
    </header>
  )
}
