import { type FormEvent, useState } from 'react'
import type { Client, SignInUser } from '#client/sdk/types'
import { useClient } from '../../connection/client.ts'
import { lengthOf, secondsUntil } from '../../kit/format.ts'
import { Problem } from '../../kit/notice.tsx'
import type { ProblemWords } from '../../kit/problem.ts'
import { useLoaded } from '../../kit/use-loaded.ts'
import { useNowUntil } from '../../kit/use-now.ts'
import { signInTexts as t } from '../../texts/sign-in.ts'
import accountsStyles from '../accounts.module.css'
import type { Entering } from './entering.ts'
import styles from './vouched-way.module.css'

const proofWords: ProblemWords = t.humanProblems

/** Signs in by a proof of being human, made in the provider's app for the signal shown. */
export function HumanWay({ entering }: { entering: Entering }) {
  const client = useClient()
  const signal = useLoaded('signal', () => client.federation.proofSignal())
  const now = useNowUntil(signal.value?.expires_at)
  const left = secondsUntil(signal.value?.expires_at, now)
  return (
    <div className="stack">
      <p>{t.human.hint}</p>
      <Problem error={signal.error} onRetry={signal.reload} />
      {signal.value && (
        <dl className={accountsStyles.pairs}>
          <dt>{t.human.signal}</dt>
          <dd>
            <code>{signal.value.signal}</code>
          </dd>
          {signal.value.action && (
            <>
              <dt>{t.human.action}</dt>
              <dd>
                <code>{signal.value.action}</code>
              </dd>
            </>
          )}
        </dl>
      )}
      {signal.value && (
        <p className="hint numerals">
          {left > 0 ? t.human.valid({ time: lengthOf(left) }) : t.human.expired}{' '}
          <button type="button" className={accountsStyles.link} onClick={signal.reload}>
            {t.human.renew}
          </button>
        </p>
      )}
      <PasteForm
        label={t.human.proof}
        words={proofWords}
        entering={entering}
        enter={async (text) => client.enter(await client.federation.humanProof(proofIn(text)))}
      />
    </div>
  )
}

const partnerWords: ProblemWords = t.partnerProblems

/** Signs in by a token of the partner. */
export function PartnerWay({ entering }: { entering: Entering }) {
  const client = useClient()
  return (
    <div className="stack">
      <p>{t.partner.hint}</p>
      <PasteForm
        label={t.partner.token}
        words={partnerWords}
        entering={entering}
        enter={async (text) => client.enter(await client.federation.partner({ token: text, isMiniApp: true }))}
      />
    </div>
  )
}

function PasteForm(props: {
  label: string
  words: ProblemWords
  entering: Entering
  enter: (text: string) => Promise<SignInUser>
}) {
  const [text, setText] = useState('')
  const { busy, error, attempt } = props.entering
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void attempt('paste', () => props.enter(text.trim()))
  }
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>{props.label}</span>
        <textarea
          dir="auto"
          className={`input ${styles.pasted}`}
          rows={4}
          required
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Problem error={error} words={props.words} />
      <div className="row">
        <button type="submit" className="button main" disabled={busy !== null || !text.trim()}>
          {busy === 'paste' ? t.checking : t.signIn}
        </button>
      </div>
    </form>
  )
}

type Proof = Parameters<Client['federation']['humanProof']>[0]

function proofIn(text: string): Proof {
  try {
    return JSON.parse(text) as Proof
  } catch {
    throw new Error(t.human.notJson)
  }
}
