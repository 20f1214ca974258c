import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { lineOf } from '../media/words.ts'
import type { Aim } from './aim.ts'

/** The message that the text in the composer replies to or edits. */
export function ComposerContext({ aim, onCancel }: { aim: NonNullable<Aim>; onCancel: () => void }) {
  const { message } = aim
  return (
    <div className="composer-aim">
      <Icon name={aim.kind === 'edit' ? 'pencil' : 'reply'} />
      <span className="grow">
        <strong>
          {aim.kind === 'edit' ? 'Editing' : `Reply to ${nameOf(message.sender.name, message.sender_address)}`}
        </strong>{' '}
        {lineOf(message.content, message.message_type)}
      </span>
      <button type="button" className="icon-button small" aria-label="Cancel" title="Cancel" onClick={onCancel}>
        <Icon name="close" />
      </button>
    </div>
  )
}
