import { useEffect, useState, useSyncExternalStore } from 'react'
import agentsStyles from '../agents/agents.module.css'
import { AnswerText } from '../agents/answer-text.tsx'
import { useStick } from '../agents/use-stick.ts'
import { useClient } from '../connection/client.ts'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useRepeated } from '../kit/use-loaded.ts'
import { agentDraftOf, keepText, readText } from '../messages/drafts.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import styles from './agent-page.module.css'
import { Begin } from './begin.tsx'
import { type Asked, paidChat, type Said, saidBefore } from './paid-chat.ts'
import { CutShortNote, ExchangeFrame, nothingCited, PaidExchange, ReceiptText } from './paid-exchange.tsx'
import type { PublicAgent } from './public-agent.ts'
import { VisitorField } from './visitor-field.tsx'

/** The conversation of a visitor with an agent that is paid for by each answer. */
export function PaidView({ agent, simulated }: { agent: PublicAgent; simulated: boolean }) {
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

export function useDraft(id: string): [string, (text: string) => void] {
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
