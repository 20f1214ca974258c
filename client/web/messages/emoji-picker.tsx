import { type Gemoji, gemoji } from 'gemoji'
import { useState } from 'react'
import { Dialog } from '../kit/dialog.tsx'
import { Blank } from '../kit/notice.tsx'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './emoji-picker.module.css'
import { emojiFor } from './use-choices.ts'

/** Every emoji by group, or those that match a search word. */
export function EmojiPicker({ onPick, onClose }: { onPick: (emoji: string) => void; onClose: () => void }) {
  const [word, setWord] = useState('')
  const found = word.trim() ? emojiFor(gemoji, word.trim()) : gemoji
  const kinds = [...Map.groupBy(found, ({ category }) => category)]
  return (
    <Dialog title={t.emoji.title} onClose={onClose}>
      <div className="stack">
        <input
          dir="auto"
          className="input"
          type="search"
          aria-label={t.emoji.find}
          placeholder={t.emoji.find}
          value={word}
          onChange={(event) => setWord(event.target.value)}
        />
        {kinds.length === 0 && <Blank icon="smile" title={t.emoji.none} />}
        {kinds.map(([kind, emoji]) => (
          <section key={kind} className={styles.emojiKind}>
            <h3 className="label">{kind}</h3>
            <ul>
              {emoji.map((one) => (
                <li key={one.emoji}>
                  <Choice emoji={one} onPick={onPick} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

const Choice = ({ emoji, onPick }: { emoji: Gemoji; onPick: (emoji: string) => void }) => (
  <button type="button" title={`${emoji.description} :${emoji.names[0]}:`} onClick={() => onPick(emoji.emoji)}>
    {emoji.emoji}
  </button>
)
