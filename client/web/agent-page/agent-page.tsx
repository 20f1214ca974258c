import '../kit/frame.css'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { runsOf } from '#client/sdk/runs'
import type { Client } from '#client/sdk/types'
import { networks, priceText } from '#shared/api/payments/payment-networks'
import { linkTo } from '#shared/kit/pages'
import { ThemeButton } from '../accounts/appearance/theme-button.tsx'
import { loadUser, SessionContext } from '../accounts/session.ts'
import { guestWallet } from '../accounts/sign-in/guest.ts'
import { Wordmark } from '../accounts/welcome/wordmark.tsx'
import { AgentPicture } from '../agents/agent-head.tsx'
import agentsStyles from '../agents/agents.module.css'
import { AnswerText } from '../agents/answer-text.tsx'
import { AgentMissing, Conversation, useAgent, useStick } from '../agents/conversation.tsx'
import { useAccount, useClient } from '../connection/client.ts'
import { useKeptFocus } from '../kit/focus.ts'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, LoadProblem, Problem, Skeleton } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useLoaded, useRepeated } from '../kit/use-loaded.ts'
import { agentDraftOf, keepText, readText } from '../messages/drafts.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import styles from './agent-page.module.css'
import { type Asked, paidChat, type Said, saidBefore } from './paid-chat.ts'
import { CutShortNote, ExchangeFrame, nothingCited, PaidExchange, ReceiptText, VisitorField } from './paid-exchange.tsx'

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

/** The conversation with an agent that costs nothing: of the account, which a visitor gets with the first question. */
function FreeView({ agent }: { agent: PublicAgent }) {
  const account = useAccount()
  const [isEntering, setEntering] = useState(false)
  if (account === null || isEntering) return <Visitor agent={agent} isBusy={isEntering} onEntering={setEntering} />
  return <Known key={account} id={agent.id} account={account} />
}

function Visitor(props: { agent: PublicAgent; isBusy: boolean; onEntering: (isEntering: boolean) => void }) {
  const { agent, isBusy, onEntering } = props
  const client = useClient()
  const [draft, setDraft] = useDraft(agent.id)
  const [error, setError] = useState<unknown>(null)
  const ask = async (message: string) => {
    onEntering(true)
    setError(null)
    try {
      if (client.account === null) await client.signIn(await guestWallet())
      const run = runsOf(client).ask(agent.id, message)
      await new Promise<void>((resolve) => {
        const look = () => {
          if (run.state.runId !== null || run.state.status === 'refused') resolve()
        }
        run.subscribe(look)
        look()
      })
      setDraft(run.state.status === 'refused' ? message : '')
    } catch (cause) {
      setError(cause)
    }
    onEntering(false)
  }
  return (
    <>
      <Notice isScripted={agent.scripted} />
      <div className="timeline-frame">
        <section className="timeline" aria-label={t.conversation}>
          <div className={agentsStyles.exchanges}>
            <Begin agent={agent} onAsk={(question) => void ask(question)} />
          </div>
        </section>
      </div>
      <div className={agentsStyles.agentProblem}>
        <Problem error={error} />
      </div>
      <VisitorField
        name={agent.name}
        text={draft}
        isBusy={isBusy}
        onWrite={setDraft}
        onSend={(message) => void ask(message)}
      />
      <p className={`hint ${agentsStyles.agentPageFoot}`}>{isBusy ? t.visitor.entering : t.visitor.guest}</p>
    </>
  )
}

function Known({ id, account }: { id: string; account: string }) {
  const client = useClient()
  const loaded = useLoaded(account, () => loadUser(client))
  const { value: agent, error, isLoading, reload } = useAgent(id)
  if (error && !isLoading) return <AgentMissing error={error} onRetry={reload} />
  if (!loaded.value && loaded.error && !loaded.isLoading)
    return <Problem error={loaded.error} onRetry={loaded.reload} />
  if (!loaded.value || !agent) return <Skeleton rows={9} label={t.loading} />
  const { user, method } = loaded.value
  const signOut = () => client.signOut()
  return (
    <SessionContext value={{ account, user, method, status: null, reload: loaded.reload, signOut }}>
      <Conversation agent={agent} />
    </SessionContext>
  )
}

/** The conversation of a visitor with an agent that is paid for by each answer. */
function PaidView({ agent, simulated }: { agent: PublicAgent; simulated: boolean }) {
  const client = useClient()
  const { id, name, avatar_emoji: emoji, avatar_url: picture } = agent
  const [chat] = useState(() => paidChat(client, id))
  const state = useSyncExternalStore(chat.subscribe, () => chat.state)
  const [draft, setDraft] = useDraft(id)
  const { box, isAtEnd, toEnd, onScroll } = useStick()
  useEffect(() => chat.start(), [chat])

  const { said, asked, receipts, problem } = state
  useRepeated(problem, () => void chat.load())
  const isOpen = ({ stage: { at } }: Asked) => at !== 'done' && at !== 'failed'
  const face = { name, emoji, picture }
  const ask = (message: string) => {
    chat.ask(message)
    setDraft('')
    requestAnimationFrame(toEnd)
  }

  return (
    <>
      <div className="timeline-frame">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll the conversation. */}
        <section className="timeline" ref={box} onScroll={onScroll} tabIndex={0} aria-label={t.conversation}>
          <div className={agentsStyles.exchanges}>
            {said === null && !problem && <Skeleton rows={6} label={t.loading} />}
            <Problem error={problem} onRetry={() => void chat.load()} />
            {said?.length === 0 && asked.length === 0 && <Begin agent={agent} onAsk={ask} />}
            {pairsOf(saidBefore(state)).map(({ question, answer, cutShort }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: what was said before does not change.
              <ExchangeFrame key={at} face={face} question={question}>
                {answer === null ? (
                  <p className={agentsStyles.answerEnd}>{t.answer.unfinished}</p>
                ) : (
                  <>
                    <AnswerText text={answer} citations={nothingCited} />
                    <CutShortNote cutShort={cutShort} />
                  </>
                )}
              </ExchangeFrame>
            ))}
            {asked.map((one) => (
              <PaidExchange
                key={one.key}
                face={face}
                asked={one}
                chat={chat}
                simulated={simulated}
                onLeave={(message) => setDraft(draft || message)}
              />
            ))}
            {receipts.length > 0 && asked.every(({ stage }) => stage.at === 'done') && (
              <details className={styles.receipts}>
                <summary>{t.paid.receipts({ count: receipts.length })}</summary>
                <ul>
                  {receipts.map((receipt) => (
                    <li key={receipt.id}>
                      <ReceiptText receipt={receipt} />
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </div>
        </section>
        {!isAtEnd && (
          <button type="button" className={`button small ${agentsStyles.toEnd}`} onClick={toEnd}>
            <Icon name="down" />
            {t.toEnd}
          </button>
        )}
      </div>
      <Announcer name={name} last={asked.at(-1) ?? null} />
      <VisitorField name={name} text={draft} isBusy={asked.some(isOpen)} onWrite={setDraft} onSend={ask} />
    </>
  )
}

function useDraft(id: string): [string, (text: string) => void] {
  const place = agentDraftOf('visitor', id)
  const [draft, setDraft] = useState(() => readText(place) ?? '')
  const write = (text: string) => {
    setDraft(text)
    keepText(place, text)
  }
  return [draft, write]
}

function pairsOf(said: readonly Said[]) {
  return said.flatMap(({ role, content }, at) => {
    const next = said[at + 1]
    const answer = next?.role === 'assistant' ? next : null
    return role === 'user'
      ? { question: content, answer: answer?.content ?? null, cutShort: answer?.cut_short ?? null }
      : []
  })
}

/** Tells screen readers how far a question is, and reads the answer when it has ended. */
function Announcer({ name, last }: { name: string; last: Asked | null }) {
  const who = isolated(name)
  const words = {
    asking: '',
    priced: t.said.priced,
    wallet: t.said.wallet,
    paying: t.said.paying,
    unknown: t.said.unknown,
    waiting: t.said.waiting,
    cut: t.said.cut,
    writing: t.said.answering({ name: who }),
    done: last?.stage.at === 'done' ? t.said.answer({ name: who, text: last.stage.text }) : '',
    failed: t.said.failed,
  }
  return (
    <div className="unseen" role="log" aria-live="polite" aria-label={t.answers}>
      {last && words[last.stage.at]}
    </div>
  )
}

/** What is only played on this server. */
function Notice({ isScripted, isSimulated = false }: { isScripted: boolean; isSimulated?: boolean }) {
  if (!isScripted && !isSimulated) return null
  return (
    <p className={agentsStyles.agentNotice} role="note">
      <Icon name="warn" />
      <span>
        {isScripted && `${t.scripted} `}
        {isSimulated && t.simulated}
      </span>
    </p>
  )
}

/** What is shown before the first question. */
function Begin({ agent, onAsk }: { agent: PublicAgent; onAsk: (question: string) => void }) {
  const {
    name,
    personality,
    greeting,
    avatar_emoji: emoji,
    avatar_url: picture,
    suggested_questions: questions,
  } = agent
  return (
    <div className={agentsStyles.agentBegin}>
      <AgentPicture emoji={emoji} picture={picture} size="large" />
      <h2>{isolated(name)}</h2>
      <p dir="auto">{greeting || personality || t.begin}</p>
      {questions && questions.length > 0 && (
        <ul aria-label={t.suggestions}>
          {questions.map((question) => (
            <li key={question}>
              <button type="button" className="button small" onClick={() => onAsk(question)}>
                {isolated(question)}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

type PublicAgent = Awaited<ReturnType<Client['payments']['agent']>>
type Pricing = Awaited<ReturnType<Client['payments']['info']>>['pricing']
