import { AgentFace } from '../agents/agent-face.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { Icon } from '../kit/icon.tsx'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './completion-list.module.css'
import type { Choice } from './use-choices.ts'
import type { Completion } from './use-completion.ts'

export const completionId = 'completion'
export const choiceId = (at: number): string => `${completionId}-${at}`

export function CompletionList({ completion, onPick }: { completion: Completion; onPick: (choice: Choice) => void }) {
  return (
    <div id={completionId} className={`menu ${styles.completion}`} role="listbox" aria-label={t.composer.suggestions}>
      {completion.found.map((choice, at) => (
        <button
          key={choice.key}
          type="button"
          role="option"
          id={choiceId(at)}
          tabIndex={-1}
          aria-selected={at === completion.chosen}
          onPointerDown={(event) => {
            event.preventDefault()
            onPick(choice)
          }}
        >
          <Sign choice={choice} />
          {choice.title}
          {choice.note && <small>{choice.note}</small>}
        </button>
      ))}
    </div>
  )
}

function Sign({ choice: { sign, title } }: { choice: Choice }) {
  if ('account' in sign) return <Avatar id={sign.account} name={title} size="small" />
  if ('agent' in sign) return <AgentFace emoji={sign.agent} size="small" />
  return 'emoji' in sign ? <span aria-hidden="true">{sign.emoji}</span> : <Icon name={sign.icon} />
}
