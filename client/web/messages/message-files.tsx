import { lazy } from 'react'
import type { LocalMessage } from '#client/sdk/types'
import { useSession } from '../accounts/session.ts'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import mediaStyles from '../media/media.module.css'
import { AttachmentChip } from './attachment-chip.tsx'

const FileCard = lazy(async () => ({ default: (await import('../media/file-card.tsx')).FileCard }))

/** The files of a message. What is stored elsewhere is a link. */
export function MessageFiles({ message }: { message: LocalMessage }) {
  const storage = useSession().status?.media
  return message.attachments.map((attachment) =>
    storage && attachment.url.startsWith(storage) ? (
      <LazyBoundary key={attachment.url} waiting={<div className={mediaStyles.fileWaits} />}>
        <FileCard attachment={attachment} message={message} />
      </LazyBoundary>
    ) : (
      <AttachmentChip key={attachment.url} {...attachment} />
    ),
  )
}
