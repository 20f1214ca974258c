import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { navigate } from 'wouter/use-browser-location'
import type { LiveRun } from '#client/sdk/runs'
import type { Agent } from '#shared/api/agents/agent-records'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, LoadProblem, Problem, Skeleton } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { AgentHead, AgentPicture } from './agent-head.tsx'
import { missingWords } from './agent-words.ts'
import styles from './agents.module.css'
import { AskField } from './ask-field.tsx'
import { ExchangeRow } from './exchange-row.tsx'
import { useConversation } from './use-conversation.ts'

const nearEnd = 80

/** Scrolls along with what is written at the end of a box, while its end is visible. */
export function useStick() {
  const box = useRef<HTMLDivElement>(null)
  const isStuck = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const follow = () => {
      if (isStuck.current) element.scrollTop = element.scrollHeight
    }
    const watch = new ResizeObserver(follow)
    watch.observe(element)
    for (const child of element.children) watch.observe(child)
    follow()
    return () => watch.disconnect()
  }, [])

  const onScroll = () => {
    const element = box.current
    if (!element) return
    const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd
    isStuck.current = isNear
    setAtEnd(isNear)
  }
  const toEnd = useCallback(() => {
    isStuck.current = true
    setAtEnd(true)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [])
  /** Returns what brings the same place into view again, after something was added above it. */
  const hold = () => {
    const { scrollHeight = 0, scrollTop = 0 } = box.current ?? {}
    return () => box.current?.scrollTo({ top: box.current.scrollHeight - (scrollHeight - scrollTop) })
  }
  return { box, isAtEnd, toEnd, onScroll, hold }
}

/** Questions and answers, and the field to ask; `beforeAsk` is done before a question is asked, and stops it where it fails. */
export function Conversation(props: { agent: Agent; session?: string; beforeAsk?: () => Promise<void> }) {
  const { agent, session, beforeAsk } = props
  const { loaded, exchanges, hasOlder, ask, loadOlder } = useConversation(agent.id, session)
  const { box, isAtEnd, toEnd, onScroll, hold } = useStick()
  const [problem, setProblem] = useState<unknown>(null)
  // What was wrong with the agent may be mended by now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the error is about the agent as it was.
  useEffect(() => setProblem(null), [agent])
  const last = exchanges.at(-1)?.run ?? null
  const running = useRunning(exchanges.flatMap(({ run }) => run ?? []))

  const send = async (message: string, replaces?: string): Promise<boolean> => {
    setProblem(null)
    try {
      await beforeAsk?.()
      ask(message, replaces)
      requestAnimationFrame(toEnd)
      return true
    } catch (cause) {
      setProblem(cause)
      return false
    }
  }

  const held = useRef<(() => void) | null>(null)
  const earlier = async () => {
    held.current = hold()
    await loadOlder()
  }
  const firstKey = exchanges[0]?.key
  // Before the earlier messages are painted: a frame may come before they are rendered.
  // biome-ignore lint/correctness/useExhaustiveDependencies: earlier messages change the first one.
  useLayoutEffect(() => {
    held.current?.()
    held.current = null
  }, [firstKey])

  return (
    <>
      {agent.scripted && (
        <p className={styles.agentNotice} role="note">
          <Icon name="warn" />
          {t.scripted}
        </p>
      )}
      <div className="timeline-frame">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll the conversation. */}
        <section className="timeline" ref={box} onScroll={onScroll} tabIndex={0} aria-label={t.conversation}>
          <div className={styles.exchanges}>
            {hasOlder && (
              <ActButton className="button small plain" onPress={earlier}>
                {t.earlier}
              </ActButton>
            )}
            {loaded.value === null && !loaded.error && <Skeleton rows={6} label={t.loading} />}
            <Problem error={loaded.error} onRetry={loaded.reload} />
            {loaded.value !== null && exchanges.length === 0 && (
              <Begin agent={agent} onAsk={(question) => void send(question)} />
            )}
            {exchanges.map((exchange, at) => (
              <ExchangeRow
                key={exchange.key}
                agent={agent}
                exchange={exchange}
                isLast={at === exchanges.length - 1}
                onAsk={send}
              />
            ))}
          </div>
        </section>
        {!isAtEnd && (
          <button type="button" className={`button small ${styles.toEnd}`} onClick={toEnd}>
            <Icon name="down" />
            {t.toEnd}
          </button>
        )}
      </div>
      <EndAnnouncer name={agent.name} run={last} />
      <div className={styles.agentProblem}>
        <Problem error={problem} />
      </div>
      <AskField agent={agent} running={running} onSend={send} />
    </>
  )
}

function Begin({ agent, onAsk }: { agent: Agent; onAsk: (question: string) => void }) {
  return (
    <div className={styles.agentBegin}>
      <AgentPicture emoji={agent.avatar_emoji} picture={agent.avatar_url} size="large" />
      <h2>{isolated(agent.name)}</h2>
      <p dir="auto">{agent.greeting || agent.personality || t.begin}</p>
      {agent.suggested_questions && agent.suggested_questions.length > 0 && (
        <ul aria-label={t.suggestions}>
          {agent.suggested_questions.map((question) => (
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

const nothing = () => () => {}

/** The runs among these that are being written. */
function useRunning(runs: readonly LiveRun[]): readonly LiveRun[] {
  const isLive = ({ state }: LiveRun) => state.status === 'sending' || state.status === 'running'
  useSyncExternalStore(
    (listener) => {
      const ends = runs.map((run) => run.subscribe(listener))
      return () => {
        for (const end of ends) end()
      }
    },
    () =>
      runs
        .filter(isLive)
        .map(({ key }) => key)
        .join(),
  )
  return runs.filter(isLive)
}

/** Tells screen readers that an answer has begun, and reads it when it has ended. */
function EndAnnouncer({ name, run }: { name: string; run: LiveRun | null }) {
  const status = useSyncExternalStore(
    run ? (listener) => run.subscribe(listener) : nothing,
    () => run?.state.status ?? null,
  )
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (!run || status === null) return
    const who = isolated(name)
    if (status === 'sending' || status === 'running') setSaid(t.said.answering({ name: who }))
    if (status === 'done') setSaid(t.said.answer({ name: who, text: run.state.text }))
    if (status === 'cancelled') setSaid(t.said.stopped)
    if (status === 'failed' || status === 'refused') setSaid(t.said.failed)
  }, [status, run, name])
  return (
    <div className="unseen" role="log" aria-live="polite" aria-label={t.answers}>
      {said}
    </div>
  )
}

export const useAgent = (id: string) => {
  const client = useClient()
  return useLoaded<Agent>(id, async () => (await client.agents.get({ id })).agent)
}

/** The place of an agent that loads, or that could not be loaded. */
export function AgentMissing({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const back = { title: t.back, go: () => navigate(linkTo('agents')), isAlways: true }
  if (!error)
    return (
      <main className="room" aria-label={t.title}>
        <AgentHead title={t.title} back={back} />
        <Skeleton rows={9} label={t.loadingAgent} />
      </main>
    )
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={back} />
      <Blank icon="warn" title={t.notOpened}>
        <LoadProblem error={error} words={missingWords} />
        <button type="button" className="button small" onClick={onRetry}>
          {t.retry}
        </button>
      </Blank>
    </main>
  )
}
