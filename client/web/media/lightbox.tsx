import { type KeyboardEvent, type RefObject, useState } from 'react'
import { closeDialog, showDialog } from '../kit/dialog-layers.ts'
import { useBorrowedFocus } from '../kit/focus.ts'
import { Icon } from '../kit/icon.tsx'
import { stepRight } from '../kit/keys.ts'
import timelineStyles from '../messages/timeline.module.css'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './lightbox.module.css'
import mediaStyles from './media.module.css'

/** One picture large; the arrow keys walk through the pictures of the room that are loaded, in their order. */
export function Lightbox({ opener, onClose }: { opener: RefObject<HTMLElement | null>; onClose: () => void }) {
  const dialog = useBorrowedFocus(open, closeDialog)
  const [shown, setShown] = useState(() => opener.current?.querySelector('img') ?? null)
  const all = picturesIn(opener.current)
  const at = shown ? all.indexOf(shown) : -1
  const walk = (step: number) => setShown(all[at + step] ?? shown)
  const press = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -stepRight, ArrowRight: stepRight }[event.key]
    event.stopPropagation()
    if (step) walk(step)
  }
  if (!shown) return null

  return (
    <dialog
      ref={dialog}
      className={styles.lightbox}
      aria-label={shown.alt}
      onKeyDown={press}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <header className="row">
        <span className="grow">{shown.alt}</span>
        {all.length > 1 && (
          <span className="numerals" role="status">
            {t.lightbox.position({ number: at + 1, count: all.length })}
          </span>
        )}
        <button
          type="button"
          className="icon-button"
          aria-label={t.lightbox.close}
          title={t.lightbox.close}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <img src={shown.currentSrc} alt={shown.alt} className={shown.closest('.pixel_art') ? 'pixel_art' : ''} />
      <button
        type="button"
        className={styles.before}
        aria-label={t.lightbox.previous}
        disabled={at <= 0}
        onClick={() => walk(-1)}
      >
        <Icon name="back" />
      </button>
      <button
        type="button"
        className={styles.after}
        aria-label={t.lightbox.next}
        disabled={at + 1 >= all.length}
        onClick={() => walk(1)}
      >
        <Icon name="back" />
      </button>
    </dialog>
  )
}

const picturesIn = (opener: HTMLElement | null): readonly HTMLImageElement[] =>
  [
    ...(opener
      ?.closest(`.${timelineStyles.rows}, .${mediaStyles.mediaList}`)
      ?.querySelectorAll<HTMLImageElement>(`.${mediaStyles.picture} > img`) ?? []),
  ].filter(({ complete, naturalWidth }) => complete && naturalWidth > 0)

function open(dialog: HTMLDialogElement) {
  showDialog(dialog)
  dialog.querySelector<HTMLElement>('header button')?.focus()
}
