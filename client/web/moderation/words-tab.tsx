import { type FormEvent, useState } from 'react'
import type { moderation } from '#shared/api/moderation/moderation'
import type { BlockedWord } from '#shared/api/moderation/moderation-records'
import type { CallOf, OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { withPlainNames } from '#shared/kit/room-agents'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed, Problem } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { locale } from '../texts/language.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { chatOf, useAct } from './acts.ts'
import dryRunStyles from './dry-run.module.css'
import styles from './words-tab.module.css'

type Proposal = Omit<CallOf<typeof moderation.simulate>, 'room' | 'last'>
type Outcome = OutputOf<typeof moderation.simulate>

const tested = 500
const sampled = 4

/** Shows which of the last messages a proposed word or rule would have refused, before it is saved. */
export function DryRun({ proposal }: { proposal: Proposal }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const [run, setRun] = useState<{ of: string; outcome: Outcome | null; error: unknown } | null>(null)
  const proposed = JSON.stringify(proposal)
  const isCurrent = run?.of === proposed

  const start = async () => {
    try {
      const outcome = await client.moderation.simulate({ room: live.ref, last: tested, ...proposal })
      setRun({ of: proposed, outcome, error: null })
    } catch (error) {
      setRun({ of: proposed, outcome: null, error })
    }
  }

  return (
    <section className={dryRunStyles.dryRun} aria-label={t.dryRun.title}>
      <div className="row">
        <span className="grow hint">{t.dryRun.hint}</span>
        <button type="button" className="button small" onClick={start}>
          {t.dryRun.start}
        </button>
      </div>
      {isCurrent && <Problem error={run.error} />}
      {isCurrent && run.outcome && <OutcomeText outcome={run.outcome} />}
    </section>
  )
}

function OutcomeText({ outcome }: { outcome: Outcome }) {
  return (
    <div className="stack" role="status">
      <p className="numerals">
        {t.dryRun.outcome({
          hits: outcome.hits,
          tested: outcome.tested,
          authors: outcome.authors,
          time: outcome.milliseconds.toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
          strong: (parts) => <strong>{parts}</strong>,
          hint: (parts) => <span className="hint">{parts}</span>,
        })}
      </p>
      <ul className={dryRunStyles.samples}>
        {outcome.sample.slice(0, sampled).map((message) => (
          <li key={message.id}>
            <strong>{nameOf(message.sender.name, message.sender_address)}</strong>{' '}
            <span dir="auto">{withPlainNames(message.content)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

type Effect = BlockedWord['action']

/** The blocked words of a room; with null those of every room, of which there is no dry run. */
export function WordsTab({ room }: { room: RoomRef | null }) {
  const client = useClient()
  const act = useAct()
  const [word, setWord] = useState('')
  const [isRegex, setRegex] = useState(false)
  const [asWritten, setAsWritten] = useState(false)
  const [effect, setEffect] = useState<Effect>('block')
  const words = useLoaded<readonly BlockedWord[]>(room ? roomKey(room) : 'global', async () => {
    const asked = room ? { scope: 'room' as const, ...chatOf(room) } : { scope: 'global' as const }
    return (await client.moderation.words(asked)).words
  })
  const wanted = word.trim()
  const proposal = { word: wanted, is_regex: isRegex, as_written: asWritten && !isRegex }

  const add = async (event: FormEvent) => {
    event.preventDefault()
    const patch = { ...proposal, word_action: effect }
    const acted = await act({ room, action: 'word_add', patch }, t.words.added({ word: wanted }))
    if (!acted) return
    setWord('')
    words.reload()
  }
  const remove = async (id: string) => {
    await client.moderation.removeWord({ id })
    words.reload()
  }

  return (
    <>
      <form className="stack" onSubmit={add}>
        <input
          dir="auto"
          className="input"
          aria-label={t.words.field}
          placeholder={isRegex ? t.words.pattern : t.words.word}
          maxLength={200}
          value={word}
          onChange={(event) => setWord(event.target.value)}
        />
        <div className="row wrap">
          <select
            className="input small"
            aria-label={t.words.effect}
            value={effect}
            onChange={(event) =>
              setEffect(event.target.value === 'flag' || event.target.value === 'mute' ? event.target.value : 'block')
            }
          >
            {Object.entries(t.effects).map(([key, title]) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
          <label className="check">
            <input type="checkbox" checked={isRegex} onChange={(event) => setRegex(event.target.checked)} />
            {t.words.pattern}
          </label>
          <label className="check" title={t.words.matchAccentsHint}>
            <input
              type="checkbox"
              checked={asWritten && !isRegex}
              disabled={isRegex}
              onChange={(event) => setAsWritten(event.target.checked)}
            />
            {t.words.matchAccents}
          </label>
          <span className="grow" />
          <button type="submit" className="button small main" disabled={!wanted}>
            {t.words.add}
          </button>
        </div>
        {room && wanted && <DryRun proposal={proposal} />}
      </form>
      <Listed
        loaded={words}
        empty={
          <Blank icon="book" title={t.words.empty}>
            {room && <p>{t.words.emptyHint}</p>}
          </Blank>
        }
      >
        {(rows) => (
          <ul className={styles.words}>
            {rows.map((row) => (
              <WordLine key={row.id} word={row} onRemove={() => remove(row.id)} />
            ))}
          </ul>
        )}
      </Listed>
    </>
  )
}

function WordLine({ word, onRemove }: { word: BlockedWord; onRemove: () => Promise<void> }) {
  return (
    <li>
      <code className="grow">{word.word}</code>
      {word.is_regex && <span className="chip">{t.words.pattern}</span>}
      {word.as_written && <span className="chip">{t.words.matchAccents}</span>}
      {word.is_regex && word.cost !== undefined && (
        <span className="chip numerals" title={t.words.costHint}>
          {t.words.cost({ steps: word.cost })}
        </span>
      )}
      {word.quarantined && <span className="chip grave">{t.words.quarantined({ reason: word.quarantined })}</span>}
      <span className="chip">{t.effects[word.action]}</span>
      <ActButton
        className="icon-button small"
        aria-label={t.words.remove({ word: word.word })}
        title={t.words.remove({ word: word.word })}
        onPress={onRemove}
      >
        <Icon name="close" />
      </ActButton>
    </li>
  )
}
