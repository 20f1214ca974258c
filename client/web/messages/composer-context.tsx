import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { lineOf } from '../media/words.ts'
import { messageTexts as t } from '../texts/messages.ts'
import type { Aim } from './aim.ts'

/** The message that the text in the composer replies to or edits. */
export function ComposerContext({ aim, onCancel }: { aim: NonNullable<Aim>; onCancel: () => void }) {
  const { message } = aim
  return (
    <div className="composer-aim">
      <Icon name={aim.kind === 'edit' ? 'pencil' : 'reply'} />
      <span className="grow">
        <strong>
          {aim.kind === 'edit'
            ? t.composer.editing
            : t.composer.replyTo({ name: nameOf(message.sender.name, message.sender_address) })}
        </strong>{' '}
        {lineOf(message.content, message.message_type)}
      </span>
      <button
        type="button"
        className="icon-button small"
        aria-label={t.composer.cancel}
        title={t.composer.cancel}
        onClick={onCancel}
      >
        <Icon name="close" />
      </button>
    </div>
  )
}
