import { Fragment } from 'react'
import { Dialog } from '../kit/dialog.tsx'
import { roomTexts as t } from '../texts/rooms.ts'
import { type KeyAction, keyNames, keyParts, keyTitle } from './key-table.ts'

/** All keys of the page, from their table. */
export function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t.keys.title} onClose={onClose}>
      <div className="stack wide">
        {keyParts.map(({ title, actions }) => (
          <section key={title} className="stack">
            <h3 className="label">{title}</h3>
            <dl className="keys">
              {actions.map((action) => (
                <Fragment key={action}>
                  <dt>
                    <Presses action={action} />
                  </dt>
                  <dd>{keyTitle(action)}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

function Presses({ action }: { action: KeyAction }) {
  return keyNames(action).map((names, at) => (
    <Fragment key={names.join()}>
      {at > 0 && <span className="hint">{t.keys.or}</span>}
      {names.map((name) => (
        <kbd key={name}>{name}</kbd>
      ))}
    </Fragment>
  ))
}
