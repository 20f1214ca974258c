import { type FormEvent, useState } from 'react'
import type { BlockedWord } from '#shared/api/moderation-records'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { chatOf, useAct } from './acts.ts'
import { DryRun } from './dry-run.tsx'
import styles from './words-tab.module.css'

const effects = { block: 'Block', flag: 'Flag', mute: 'Refuse quietly' } as const
type Effect = keyof typeof effects

export function WordsTab() {
  const client = useClient()
  const { live } = useOpenRoom()
  const act = useAct()
  const [word, setWord] = useState('')
  const [isRegex, setRegex] = useState(false)
  const [asWritten, setAsWritten] = useState(false)
  const [effect, setEffect] = useState<Effect>('block')
  const words = useLoaded<readonly BlockedWord[]>(roomKey(live.ref), async () => {
    const { words: found } = await client.moderation.words({ scope: 'room', ...chatOf(live.ref) })
    return found
  })
  const wanted = word.trim()
  const proposal = { word: wanted, is_regex: isRegex, as_written: asWritten && !isRegex }

  const add = async (event: FormEvent) => {
    event.preventDefault()
    const patch = { ...proposal, word_action: effect }
    const acted = await act({ room: live.ref, action: 'word_add', patch }, `“${wanted}” added`)
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
          aria-label="Word or pattern"
          placeholder={isRegex ? 'A pattern, as a regular expression' : 'A word'}
          maxLength={200}
          value={word}
          onChange={(event) => setWord(event.target.value)}
        />
        <div className="row wrap">
          <select
            className="input small"
            aria-label="What it does"
            value={effect}
            onChange={(event) =>
              setEffect(event.target.value === 'flag' || event.target.value === 'mute' ? event.target.value : 'block')
            }
          >
            {Object.entries(effects).map(([key, title]) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
          <label className="check">
            <input type="checkbox" checked={isRegex} onChange={(event) => setRegex(event.target.checked)} />
            Pattern
          </label>
          <label className="check" title="Its accents count: “schwül” is not found in “schwul”">
            <input
              type="checkbox"
              checked={asWritten && !isRegex}
              disabled={isRegex}
              onChange={(event) => setAsWritten(event.target.checked)}
            />
            As written
          </label>
          <span className="grow" />
          <button type="submit" className="button small main" disabled={!wanted}>
            Add
          </button>
        </div>
        {wanted && <DryRun proposal={proposal} />}
      </form>
      <Listed
        loaded={words}
        empty={
          <Blank icon="book" title="No blocked words">
            <p>Try a word first: the dry run shows what it would have done.</p>
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
      {word.is_regex && <span className="chip">pattern</span>}
      {word.as_written && <span className="chip">as written</span>}
      {word.is_regex && word.cost !== undefined && (
        <span className="chip numerals" title="Steps that it took on the costliest of the texts on which it was tried">
          cost {word.cost.toLocaleString()}
        </span>
      )}
      {word.quarantined && <span className="chip grave">set aside: {word.quarantined}</span>}
      <span className="chip">{effects[word.action].toLowerCase()}</span>
      <ActButton
        className="icon-button small"
        aria-label={`Remove ${word.word}`}
        title={`Remove ${word.word}`}
        onPress={onRemove}
      >
        <Icon name="close" />
      </ActButton>
    </li>
  )
}
