import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from 'react'
import type { CutShort } from '#shared/api/agents/run-frames'
import { networks } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { AgentPicture } from '../agents/agent-head.tsx'
import { cutWords, whyFailed } from '../agents/agent-words.ts'
import agentsStyles from '../agents/agents.module.css'
import { AnswerText } from '../agents/answer-text.tsx'
import { composerId } from '../kit/composer-id.ts'
import { useFocused } from '../kit/focus.ts'
import { isolated, shortAddress } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { sends } from '../kit/keys.ts'
import { problemText } from '../kit/problem.ts'
import { OuterLink } from '../messages/outer-link.tsx'
import { useField } from '../messages/use-field.ts'
import { agentChatTexts as t } from '../texts/agent-chat.ts'
import { locale } from '../texts/language.ts'
import styles from './agent-page.module.css'
import type { KeptReceipt } from './kept.ts'
import { amountText } from './offer.ts'
import type { Asked, PaidChat } from './paid-chat.ts'
import { PriceCard, paymentWords } from './price-card.tsx'

interface Face {
  name: string
  emoji: string
  picture: string | null
}

/** A question, and below it an answer or what it waits for. */
export function ExchangeFrame({ face, question, children }: { face: Face; question: string; children: ReactNode }) {
  return (
    <article className={agentsStyles.exchange} aria-label={t.asked({ question: cut(question, 80) })}>
      <div className={agentsStyles.question}>
        <p dir="auto">{question}</p>
      </div>
      <div className={agentsStyles.answer}>
        <AgentPicture {...face} size="small" />
        <div className="grow">
          <span className="unseen">{t.answered({ name: isolated(face.name) })}</span>
          {children}
        </div>
      </div>
    </article>
  )
}

export const nothingCited: readonly never[] = []

export function PaidExchange(props: {
  face: Face
  asked: Asked
  chat: PaidChat
  simulated: boolean
  onLeave: (message: string) => void
}) {
  const { face, asked } = props
  return (
    <ExchangeFrame face={face} question={asked.message}>
      <StageView {...props} />
    </ExchangeFrame>
  )
}

function StageView(props: Parameters<typeof PaidExchange>[0]) {
  const { asked, chat, simulated } = props
  const { key, message, stage } = asked
  const leave = () => {
    chat.drop(key)
    props.onLeave(message)
  }
  switch (stage.at) {
    case 'asking':
      return <Working>{t.paid.asking}</Working>
    case 'priced':
      return (
        <PriceCard
          what="answer"
          offer={stage.offer}
          problem={stage.problem}
          simulated={simulated}
          onPay={(payer) => void chat.pay(key, payer)}
          onLeave={leave}
        />
      )
    case 'wallet':
      return (
        <>
          <Working>{t.paid.wallet({ name: stage.name, amount: amountText(stage.offer.amount) })}</Working>
          <div className="row">
            <button type="button" className="button small" onClick={() => chat.leaveWallet(key)}>
              {t.paid.cancel}
            </button>
          </div>
        </>
      )
    case 'paying':
      return <Working>{t.paid.paying}</Working>
    case 'waiting':
      return <Working>{t.paid.waiting}</Working>
    case 'unknown':
      return stage.isOver ? (
        <p className={agentsStyles.answerEnd}>
          <Icon name="warn" />
          <span className="grow">{t.paid.notFound}</span>
          <button type="button" className="button small" onClick={leave}>
            {t.paid.discard}
          </button>
        </p>
      ) : (
        <Working>{t.paid.unknown}</Working>
      )
    case 'cut':
      return <Working isCut>{stage.isPaid ? t.paid.cutPaid : t.paid.cutUnpaid}</Working>
    case 'writing':
      return (
        <>
          <AnswerText text={stage.text} citations={nothingCited} />
          <Working>{t.paid.writing}</Working>
        </>
      )
    case 'done':
      return (
        <>
          <AnswerText text={stage.text} citations={nothingCited} />
          <CutShortNote cutShort={stage.cutShort} />
          <p className={styles.receipt}>
            <Icon name="check" />
            <ReceiptText receipt={stage.receipt} />
          </p>
        </>
      )
    case 'failed':
      return (
        <>
          <AnswerText text={stage.text} citations={nothingCited} />
          <p className={`${agentsStyles.answerEnd} fault`} role="alert">
            <Icon name="warn" />
            <span className="grow">
              {stage.spent !== null
                ? t.paid.spent({ id: stage.spent })
                : stage.isPaid
                  ? t.paid.retryPaid({ reason: reasonOf(stage.problem) })
                  : problemText(stage.problem, paymentWords)}
            </span>
            {stage.spent === null && (
              <button type="button" className="button small" onClick={() => void chat.retry(key)}>
                <Icon name="retry" />
                {stage.isPaid ? t.paid.retry : t.answer.askAgain}
              </button>
            )}
            {(!stage.isPaid || stage.spent !== null) && (
              <button type="button" className="button small" onClick={leave}>
                {t.paid.discard}
              </button>
            )}
          </p>
        </>
      )
  }
}

/** That an answer was cut off, and why. */
export function CutShortNote({ cutShort }: { cutShort: CutShort | null }) {
  if (cutShort === null) return null
  return (
    <p className={agentsStyles.answerEnd}>
      <Icon name="stop" />
      <span className="grow">{cutWords[cutShort]}</span>
    </p>
  )
}

/** Of an error, or of the code with which an answer ended. */
const reasonOf = (problem: unknown): string =>
  problem instanceof AppError ? problemText(problem) : whyFailed(typeof problem === 'string' ? problem : null)

function Working({ isCut, children }: { isCut?: boolean; children: ReactNode }) {
  return (
    <p className={`${agentsStyles.working} ${isCut ? 'cut' : ''}`}>
      <i aria-hidden="true" />
      <span>{children}</span>
    </p>
  )
}

/** What was paid, and where that can be looked up. */
export function ReceiptText({ receipt }: { receipt: KeptReceipt }) {
  const { amount, network, simulated, transaction } = receipt
  const { title, explorer } = networks[network]
  return (
    <span>
      {simulated
        ? t.paid.receiptTest({ amount: amountText(amount) })
        : t.paid.receipt({ amount: amountText(amount), network: title })}
      {transaction && !simulated && (
        <>
          {' · '}
          <OuterLink href={`${explorer}/tx/${transaction}`}>{shortAddress(transaction)}</OuterLink>
        </>
      )}
    </span>
  )
}

const longest = 10_000

/** The field of a visitor, who may ask one question at a time. */
export function VisitorField(props: {
  name: string
  text: string
  isBusy: boolean
  onWrite: (text: string) => void
  onSend: (message: string) => void
}) {
  const { name, text, isBusy, onWrite } = props
  const field = useFocused<HTMLTextAreaElement>()
  useField(field, text)
  const [isTold, setTold] = useState(false)
  const isTooLong = [...text].length > longest
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    const message = text.trim()
    setTold(isBusy)
    if (message !== '' && !isTooLong && !isBusy) props.onSend(message)
  }
  const press = (event: KeyboardEvent) => {
    if (!sends(event)) return
    event.preventDefault()
    submit()
  }
  return (
    <form className="composer" aria-label={t.field.form} onSubmit={submit}>
      {(isTooLong || (isBusy && isTold)) && (
        <p className="banner" role="status">
          <Icon name="warn" />
          <span>{isTooLong ? t.field.tooLong({ count: longest.toLocaleString(locale) }) : t.field.oneAtATime}</span>
        </p>
      )}
      <div className="composer-field">
        <textarea
          dir="auto"
          ref={field}
          id={composerId}
          rows={1}
          aria-label={t.field.message}
          placeholder={t.field.ask({ name: isolated(name) })}
          value={text}
          onChange={({ target }) => onWrite(target.value)}
          onKeyDown={press}
        />
        <button
          type="submit"
          className="send"
          aria-label={t.field.send}
          title={t.field.send}
          disabled={!text.trim() || isTooLong || isBusy}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  )
}
