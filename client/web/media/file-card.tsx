import { lazy, useState } from 'react'
import type { LocalMessage } from '#client/sdk/types'
import { cleanFileName, fileNameIn, fileTypeOf } from '#shared/kit/file-name'
import { lengthInBytes } from '../kit/byte-length.ts'
import { isolated } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { saveFile } from '../kit/save-file.ts'
import { useAttempt } from '../kit/toasts.tsx'
import { AttachmentChip } from '../messages/attachment-chip.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './file-card.module.css'
import { keyFor } from './message-media.tsx'
import { SealedPicture, StoredPicture } from './picture.tsx'
import { load, openSealed, useStoredAs } from './stored.ts'

const PdfDialog = lazy(async () => ({ default: (await import('./pdf-dialog.tsx')).PdfDialog }))

type Attachment = LocalMessage['attachments'][number]
const pdfType = 'application/pdf'
const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']

/** A file of a message: what it is called, how large it is, and how to get it. Pictures, sounds and films are shown, too. */
export function FileCard({ attachment, message }: { attachment: Attachment; message: LocalMessage }) {
  const { live, isSealed } = useOpenRoom()
  const attempt = useAttempt()
  const storedAs = useStoredAs()
  const [isOpen, setOpen] = useState(false)
  const { url, size } = attachment
  // The server has not judged what is said inside of a sealed message.
  const name = cleanFileName(attachment.name ?? fileNameIn(url) ?? url)
  const stored = storedAs(url)
  const isStoredSealed = stored === 'sealed'
  const mime = isStoredSealed ? (attachment.mime ?? '') : fileTypeOf(url)
  const open = (type: string) =>
    isStoredSealed
      ? openSealed({ url, type, key: keyFor(message, live, isSealed) })
      : load(url).then((blob) => blob.slice(0, blob.size, type))
  if (stored === null) return <AttachmentChip {...attachment} />
  const download = async () => saveFile(await open('application/octet-stream'), name)

  return (
    <>
      {pictureTypes.includes(mime) &&
        (isStoredSealed ? (
          <SealedPicture open={() => open(mime)} url={url} kind="photo" alt={isolated(name)} />
        ) : (
          <StoredPicture url={url} kind={mime === 'image/gif' ? 'gif' : 'photo'} alt={isolated(name)} />
        ))}
      {!isStoredSealed && <Player url={url} mime={mime} name={name} />}
      <section className={styles.file} aria-label={t.file.card({ name: isolated(name) })}>
        <Icon name={iconOf(mime)} />
        <div className={styles.about}>
          <bdi className={styles.name} title={isolated(name)}>
            {name}
          </bdi>
          {size !== undefined && (
            <small className="numerals">
              <bdi>{lengthInBytes(size)}</bdi>
            </small>
          )}
        </div>
        <div className={styles.acts}>
          {mime === pdfType && (
            <button
              type="button"
              className="button small"
              aria-label={t.file.openOf({ name: isolated(name) })}
              onClick={() => setOpen(true)}
            >
              {t.file.open}
            </button>
          )}
          {isStoredSealed ? (
            <button
              type="button"
              className="button small"
              aria-label={t.file.downloadOf({ name: isolated(name) })}
              onClick={() => attempt(download)}
            >
              {t.file.download}
            </button>
          ) : (
            <a
              className="button small"
              href={url}
              download={name}
              rel="noreferrer"
              aria-label={t.file.downloadOf({ name: isolated(name) })}
            >
              {t.file.download}
            </a>
          )}
        </div>
      </section>
      {isOpen && (
        <LazyBoundary>
          <PdfDialog name={isolated(name)} open={() => open(pdfType)} onClose={() => setOpen(false)} />
        </LazyBoundary>
      )}
    </>
  )
}

/** Plays a sound or film that is not sealed. */
function Player({ url, mime, name }: { url: string; mime: string; name: string }) {
  const shared = { src: url, controls: true, 'aria-label': isolated(name) }
  if (mime.startsWith('audio/')) return <audio {...shared} className={styles.player} preload="none" />
  if (mime.startsWith('video/')) return <video {...shared} className={styles.player} preload="metadata" />
  return null
}

const iconOf = (mime: string): IconName =>
  mime.startsWith('image/')
    ? 'image'
    : mime.startsWith('audio/')
      ? 'sound'
      : mime.startsWith('video/')
        ? 'camera'
        : 'file'
