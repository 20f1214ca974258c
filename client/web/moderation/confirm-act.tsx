import { Dialog } from '../kit/dialog.tsx'
import type { RowAct } from './row-acts.ts'

/** A dialog that asks for confirmation before an act that is hard to undo. */
export function ConfirmAct(props: { act: RowAct; onConfirm: () => void; onClose: () => void }) {
  return (
    <Dialog title={props.act.title} onClose={props.onClose}>
      <div className="stack wide">
        <p>{props.act.question}</p>
        <div className="row end">
          <button type="button" className="button plain" onClick={props.onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="button grave"
            onClick={() => {
              props.onClose()
              props.onConfirm()
            }}
          >
            {props.act.title}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
