import { useState } from 'react'
import { createPortal } from 'react-dom'
import { confirmationTexts as t } from '../texts/confirmations.ts'
import { ActButton } from './act-button.tsx'
import { Dialog } from './dialog.tsx'
import { Icon, type IconName } from './icon.tsx'

/** A button whose act is confirmed in a dialog that says what follows. */
export function ConfirmButton(props: {
  title: string
  /** Whom or what it is about, where that is not said beside it. */
  of?: string
  /** With one, the button is as large as those beside it that have one. */
  icon?: IconName
  /** What follows from the act. */
  question: string
  onConfirm: () => Promise<unknown>
}) {
  const { title: action, of: name, icon, question, onConfirm } = props
  const [isAsking, setAsking] = useState(false)
  const close = () => setAsking(false)
  const named = name ? t.actionOf({ action, name }) : action
  const confirm = async () => {
    await onConfirm()
    close()
  }
  return (
    <>
      <button
        type="button"
        className={icon ? 'button risky' : 'button small risky'}
        aria-label={named}
        onClick={() => setAsking(true)}
      >
        {icon && <Icon name={icon} />}
        {action}
      </button>
      {isAsking &&
        createPortal(
          <Dialog title={named} onClose={close}>
            <div className="stack wide">
              <p>{question}</p>
              <div className="row end">
                <button type="button" className="button plain" onClick={close}>
                  {t.cancel}
                </button>
                <ActButton className="button grave" onPress={confirm}>
                  {action}
                </ActButton>
              </div>
            </div>
          </Dialog>,
          document.body,
        )}
    </>
  )
}
