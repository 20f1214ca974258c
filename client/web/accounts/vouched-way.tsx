import { type FormEvent, useState } from 'react'
import type { Client, SignInUser } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { Problem } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import type { Entering } from './entering.ts'

/** Comes in by a proof of being human, made in the app of its provider for the signal shown. */
export function HumanWay({ entering }: { entering: Entering }) {
  const client = useClient()
  const signal = useLoaded('signal', () => client.federation.proofSignal())
  return (
    <div className="stack">
      <p>Make a proof in the app of the provider for this signal, and paste it here.</p>
      <Problem error={signal.error} onRetry={signal.reload} />
      {signal.value && (
        <dl className="pairs">
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
      <PasteForm
        label="Proof, as JSON"
        entering={entering}
        enter={async (text) => client.enter(await client.federation.humanProof(proofIn(text)))}
      />
    </div>
  )
}

/** Comes in by a token of the partner. */
export function PartnerWay({ entering }: { entering: Entering }) {
  const client = useClient()
  return (
    <div className="stack">
      <p>Paste the token that the partner gave you. It opens the account it names.</p>
      <PasteForm
        label="Token"
        entering={entering}
        enter={async (text) => client.enter(await client.federation.partner({ token: text, isMiniApp: true }))}
      />
    </div>
  )
}

function PasteForm(props: { label: string; entering: Entering; enter: (text: string) => Promise<SignInUser> }) {
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
          className="input"
          rows={4}
          required
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Problem error={error} />
      <div className="row">
        <button type="submit" className="button main" disabled={busy !== null}>
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
