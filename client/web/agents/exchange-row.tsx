import { type KeyboardEvent, useState, useSyncExternalStore } from 'react'
import type { LiveRun, RunState, RunTool } from '#client/sdk/runs'
import type { Agent } from '#shared/api/agents/agent-records'
import type { ChatMessage } from '#shared/api/agents/agent-runs'
import type { Citation, WebSource } from '#shared/api/agents/run-frames'
import { AppError, type ErrorCode, errors } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { useFocused } from '../kit/focus.ts'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { isComposing, sends } from '../kit/keys.ts'
import { momentOf } from '../kit/moment.ts'
import { problemText } from '../kit/problem.ts'
import { useTell } from '../kit/toasts.tsx'
import messagesStyles from '../messages/messages.module.css'
import { OuterLink } from '../messages/outer-link.tsx'
import { useField } from '../messages/use-field.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { AgentPicture } from './agent-head.tsx'
import { cutWords, endWords, missingWords } from './agent-words.ts'
import agentsStyles from './agents.module.css'
import { AnswerText } from './answer-text.tsx'
import { longestQuestion } from './ask-field.tsx'
import styles from './exchange-row.module.css'
import { FreeTimes } from './free-times.tsx'
import toolCallsStyles from './tool-calls.module.css'
import type { Exchange } from './use-conversation.ts'

/** The tools that an answer has called, and how long each took. */
function ToolCalls({ tools, isOver }: { tools: readonly RunTool[]; isOver: boolean }) {
  if (tools.length === 0) return null
  return (
    <ul className={toolCallsStyles.toolCalls} aria-label={t.answer.tools}>
      {tools.map(({ server, name, state, ms }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls are only added at the end.
        <li key={at} className={state}>
          <Icon name={state === 'failed' ? 'warn' : 'plug'} />
          <span>{isolated(server) || t.answer.unknownTool}:</span>
          {name === ofServer ? <span>{t.answer.toolList}</span> : <code>{name}</code>}
          <span aria-hidden="true">·</span>
          <span className="numerals">
            {stateText(t.toolStates[state === 'running' && isOver ? 'unfinished' : state], ms)}
          </span>
        </li>
      ))}
    </ul>
  )
}

const stateText = (state: string, ms: number | null): string =>
  ms === null ? state : t.toolStates.took({ state, time: ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s` })

/** The call by which a server is asked what it offers. */
const ofServer = 'tools/list'

interface RowProps {
  agent: Agent
  exchange: Exchange
  isLast: boolean
  /** Asks a question, in the place of an earlier one if that is named. */
  onAsk: (question: string, replaces?: string) => Promise<boolean>
}

/** A question, and the answer below it. */
export function ExchangeRow({ agent, exchange, isLast, onAsk }: RowProps) {
  const { question, askedAt, run, kept } = exchange
  const runId = useSyncExternalStore(
    (listener) => run?.subscribe(listener) ?? (() => {}),
    () => (run ? run.state.runId : exchange.runId),
  )
  const [isEdited, setEdited] = useState(false)
  const again = (text: string) => void onAsk(text)
  const replace = async (text: string) => {
    if (runId !== null && (await onAsk(text, runId))) setEdited(false)
  }
  const acts = {
    runId,
    rating: kept?.rating ?? null,
    ...(isLast && runId !== null && { onRegenerate: () => void replace(question) }),
  }
  return (
    <article className={agentsStyles.exchange} aria-label={t.asked({ question: cut(question, 80) })}>
      {isEdited ? (
        <QuestionEditor question={question} onSend={replace} onCancel={() => setEdited(false)} />
      ) : (
        <div className={agentsStyles.question}>
          <p dir="auto">{question}</p>
          <div className={styles.questionFoot}>
            {runId !== null && (
              <button
                type="button"
                className="icon-button small"
                aria-label={t.acts.edit}
                title={t.acts.edit}
                onClick={() => setEdited(true)}
              >
                <Icon name="pencil" />
              </button>
            )}
            {askedAt && (
              <time dateTime={askedAt} title={fullTimeOf(askedAt)}>
                {momentOf(askedAt)}
              </time>
            )}
          </div>
        </div>
      )}
      <div className={agentsStyles.answer}>
        <AgentPicture emoji={agent.avatar_emoji} picture={agent.avatar_url} size="small" />
        <div className="grow">
          <span className="unseen">{t.answered({ name: isolated(agent.name) })}</span>
          {run ? (
            <LiveAnswer run={run} owner={agent.owner_address} acts={acts} onAsk={again} />
          ) : (
            kept && <KeptAnswer kept={kept} owner={agent.owner_address} acts={acts} question={question} onAsk={again} />
          )}
        </div>
      </div>
    </article>
  )
}

function KeptAnswer(props: {
  kept: ChatMessage
  owner: string
  acts: ActsProps
  question: string
  onAsk: (question: string) => void
}) {
  const { owner, acts } = props
  const { content, citations, sources, tools, scheduling, state, error_code, cut_short } = props.kept
  return (
    <>
      <ToolCalls tools={tools} isOver />
      <AnswerText text={content} citations={citations} />
      {scheduling && <FreeTimes scheduling={scheduling} owner={owner} />}
      <Sources citations={citations} text={content} />
      <WebSources sources={sources} />
      {cut_short && <Ended words={cutWords[cut_short]} {...props} />}
      {state === 'cancelled' && <Ended words={t.answer.stopped} {...props} />}
      {state === 'failed' && <Ended isFault {...endWords(error_code, content)} {...props} />}
      <AnswerActs text={content} {...acts} />
    </>
  )
}

function LiveAnswer(props: { run: LiveRun; owner: string; acts: ActsProps; onAsk: (question: string) => void }) {
  const { run, owner, acts, onAsk } = props
  const state = useSyncExternalStore(
    (listener) => run.subscribe(listener),
    () => run.state,
  )
  const { status, text, tools, citations, sources, scheduling, cutShort, message: question } = state
  const isWriting = status === 'running' || status === 'sending'
  return (
    <>
      <ToolCalls tools={tools} isOver={!isWriting} />
      <AnswerText text={text} citations={citations} />
      {scheduling && <FreeTimes scheduling={scheduling} owner={owner} />}
      {isWriting && <Working state={state} />}
      <Sources citations={citations} text={text} />
      <WebSources sources={sources} />
      {cutShort && <Ended words={cutWords[cutShort]} question={question} onAsk={onAsk} />}
      {status === 'cancelled' && <Ended words={t.answer.stopped} question={question} onAsk={onAsk} />}
      {status === 'failed' && (
        <Ended isFault {...endWords(state.error?.code ?? null, text)} question={question} onAsk={onAsk} />
      )}
      {status === 'refused' && <Ended isFault words={refusalWords(state)} question={question} onAsk={onAsk} />}
      {!isWriting && <AnswerActs text={text} {...acts} />}
    </>
  )
}

interface ActsProps {
  runId: string | null
  /** As it was loaded. */
  rating: ChatMessage['rating']
  /** Absent where the answer cannot be replaced. */
  onRegenerate?: () => void
}

/** What can be done with an answer. */
function AnswerActs({ text, runId, rating, onRegenerate }: ActsProps & { text: string }) {
  const client = useClient()
  const tell = useTell()
  const [rated, setRated] = useState(rating)
  const rate = async (chosen: 'up' | 'down') => {
    if (runId === null) return
    const { rating: now } = await client.agents.rate({ run_id: runId, rating: rated === chosen ? null : chosen })
    setRated(now)
  }
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    tell(t.acts.copied)
  }
  if (text === '') return null
  return (
    <div className={styles.acts}>
      <ActButton className="icon-button small" aria-label={t.acts.copy} title={t.acts.copy} onPress={copy}>
        <Icon name="copy" />
      </ActButton>
      {runId !== null &&
        (['up', 'down'] as const).map((name) => (
          <ActButton
            key={name}
            className={`icon-button small ${rated === name ? 'on' : ''}`}
            aria-label={t.rates[name]}
            title={t.rates[name]}
            aria-pressed={rated === name}
            onPress={() => rate(name)}
          >
            <Icon name={name === 'up' ? 'thumbUp' : 'thumbDown'} />
          </ActButton>
        ))}
      {onRegenerate && (
        <button
          type="button"
          className="icon-button small"
          aria-label={t.acts.regenerate}
          title={t.acts.regenerate}
          onClick={onRegenerate}
        >
          <Icon name="retry" />
        </button>
      )}
    </div>
  )
}

/** What is being done while it is written, or that nobody tells at present. */
function Working({ state }: { state: RunState }) {
  const { phase, status, isCutOff } = state
  const words = isCutOff
    ? status === 'sending'
      ? t.answer.waits
      : t.answer.goesOn
    : phase
      ? phase.detail
        ? t.answer.phaseOf({ phase: t.phases[phase.phase], detail: phase.detail })
        : t.phases[phase.phase]
      : status === 'sending'
        ? t.answer.sending
        : t.answer.thinking
  return (
    <p className={`${agentsStyles.working} ${isCutOff ? 'cut' : ''}`}>
      <i aria-hidden="true" />
      {words}
    </p>
  )
}

function refusalWords({ error }: RunState): string {
  const { code = 'INTERNAL_ERROR', text = '', retryAfter } = error ?? {}
  if (!(code in errors)) return text
  return problemText(
    new AppError(code as ErrorCode, { message: text, ...(retryAfter === undefined ? {} : { retryAfter }) }),
    missingWords,
  )
}

interface EndedProps {
  words: string
  isFault?: boolean
  /** The same question would end the same way. */
  isLasting?: boolean
  question: string
  onAsk: (question: string) => void
}

function Ended({ words, isFault = false, isLasting = false, question, onAsk }: EndedProps) {
  return (
    <p className={`${agentsStyles.answerEnd} ${isFault ? 'fault' : ''}`}>
      <Icon name={isFault ? 'warn' : 'stop'} />
      <span className="grow">{words}</span>
      {!isLasting && (
        <button type="button" className="button small" onClick={() => onAsk(question)}>
          <Icon name="retry" />
          {t.answer.askAgain}
        </button>
      )}
    </p>
  )
}

/** The sources that the answer refers to. */
function Sources({ citations, text }: { citations: readonly Citation[]; text: string }) {
  const cited = citations.filter(({ n }) => text.includes(`[${n}]`))
  if (cited.length === 0) return null
  const isShared = (title: string) => cited.filter((one) => one.title === title).length > 1
  return (
    <ol className={styles.sources} aria-label={t.answer.sources}>
      {cited.map(({ n, title, url, chunk }) => (
        <li key={n}>
          <span className={messagesStyles.cite}>{n}</span>
          <OuterLink href={url} words={title || url}>
            {isolated(title || url)}
          </OuterLink>
          {isShared(title) && <small>{t.answer.part({ number: chunk + 1 })}</small>}
        </li>
      ))}
    </ol>
  )
}

/** The pages that the answer rests on, where the model has searched the web. */
function WebSources({ sources }: { sources: readonly WebSource[] }) {
  if (sources.length === 0) return null
  return (
    <ul className={styles.sources} aria-label={t.answer.webSources}>
      {sources.map(({ url, title }) => (
        <li key={url}>
          <OuterLink href={url} words={title}>
            {isolated(title)}
          </OuterLink>
        </li>
      ))}
    </ul>
  )
}

/** A question in other words, which takes the place of the one before. */
function QuestionEditor(props: {
  question: string
  onSend: (question: string) => Promise<void>
  onCancel: () => void
}) {
  const [text, setText] = useState(props.question)
  const field = useFocused<HTMLTextAreaElement>()
  useField(field, text)
  const written = text.trim()
  const canSend = written !== '' && [...written].length <= longestQuestion
  const send = () => {
    if (canSend) void props.onSend(written)
  }
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    if (sends(event)) {
      event.preventDefault()
      send()
    }
    if (event.key === 'Escape') props.onCancel()
  }
  return (
    <form
      className={styles.questionEditor}
      aria-label={t.acts.edit}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        dir="auto"
        ref={field}
        className="input"
        aria-label={t.acts.question}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={press}
      />
      <p className="hint">{t.acts.editHint}</p>
      <div className="row end">
        <button type="button" className="button small" onClick={props.onCancel}>
          {t.acts.cancel}
        </button>
        <button type="submit" className="button small main" disabled={!canSend}>
          {t.acts.send}
        </button>
      </div>
    </form>
  )
}
