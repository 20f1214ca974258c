import { type FormEvent, useState } from 'react'
import type { Client, SignInUser } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { lengthOf, secondsUntil } from '../kit/format.ts'
import { Problem } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useNowUntil } from '../kit/use-now.ts'
import accountsStyles from './accounts.module.css'
import type { Entering } from './entering.ts'
import styles from './vouched-way.module.css'

const proofWords: ProblemWords = {
  INVALID_SIGNATURE: 'This proof does not hold, or was used before. Make a new one for the signal above.',
  INVALID_NONCE: 'This proof was made for another signal. Make a new one for the signal above.',
  NONCE_EXPIRED: 'The signal of this proof is too old. Make a new proof for the signal above.',
  VALIDATION_ERROR: 'This is not a whole proof. Copy all of it, and paste it again.',
  UPSTREAM_ERROR: 'Who checks the proofs does not answer properly. Try again in a while.',
  TIMEOUT: 'Who checks the proofs does not answer. Try again in a while.',
}

/** Signs in by a proof of being human, made in the provider's app for the signal shown. */
export function HumanWay({ entering }: { entering: Entering }) {
  const client = useClient()
  const signal = useLoaded('signal', () => client.federation.proofSignal())
  const now = useNowUntil(signal.value?.expires_at)
  const left = secondsUntil(signal.value?.expires_at, now)
  return (
    <div className="stack">
      <p>In the app of the provider, make a proof for the signal below. Then paste the proof here.</p>
      <Problem error={signal.error} onRetry={signal.reload} />
      {signal.value && (
        <dl className={accountsStyles.pairs}>
          <dt>Signal</dt>
          <dd>
            <code>{signal.value.signal}</code>
          </dd>
          {signal.value.action && (
            <>
              <dt>Action</dt>
              <dd>
                <code>{signal.value.action}</code>
              </dd>
            </>
          )}
        </dl>
      )}
      {signal.value && (
        <p className="hint numerals">
          {left > 0 ? `Good for one proof within ${lengthOf(left)}. ` : 'This signal is too old. '}
          <button type="button" className={accountsStyles.link} onClick={signal.reload}>
            Show another
          </button>
        </p>
      )}
      <PasteForm
        label="Proof, as JSON"
        words={proofWords}
        entering={entering}
        enter={async (text) => client.enter(await client.federation.humanProof(proofIn(text)))}
      />
    </div>
  )
}

const partnerWords: ProblemWords = {
  INVALID_SIGNATURE: 'The partner did not sign this token. Copy it again, all of it.',
  UNAUTHORIZED: 'This token is too old, or names nobody. Ask the partner for a new one.',
  VALIDATION_ERROR: 'This is not a whole token. Copy it again, all of it.',
  UPSTREAM_ERROR: 'The keys of the partner cannot be read. Try again in a while.',
  TIMEOUT: 'The partner does not answer. Try again in a while.',
}

/** Signs in by a token of the partner. */
export function PartnerWay({ entering }: { entering: Entering }) {
  const client = useClient()
  return (
    <div className="stack">
      <p>Paste the token that the partner gave you. It opens the account it names.</p>
      <PasteForm
        label="Token"
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
          {busy === 'paste' ? 'Checking…' : 'Sign in'}
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
    throw new Error('This is no proof: it should be JSON with merkle_root, nullifier_hash and proof.')
  }
}
