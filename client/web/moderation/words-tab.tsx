import { type FormEvent, useState } from 'react'
import type { BlockedWord } from '#shared/api/moderation/moderation-records'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { chatOf, useAct } from './acts.ts'
import { DryRun } from './dry-run.tsx'
import styles from './words-tab.module.css'

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
