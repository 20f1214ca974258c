import type { NamedMedia } from '#client/sdk/media'
import type { LiveRoom, LocalMessage } from '#client/sdk/types'
import { imageMimeTypes } from '#shared/api/media/uploads'
import { nameOf, timeOf } from '../kit/format.ts'
import { problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './media.module.css'
import { MediaFault } from './media-fault.tsx'
import { Near } from './near.tsx'
import { SealedPicture, StoredPicture } from './picture.tsx'
import { PlaceCard } from './place-card.tsx'
import { load, openSealed, useStoredAs } from './stored.ts'
import { VoicePlayer } from './voice-player.tsx'
import { mediaNames } from './words.ts'

/** The media that a message names, in the place of its text. */
export function MessageMedia({ media, message }: { media: NamedMedia; message: LocalMessage }) {
  const { live, isSealed } = useOpenRoom()
  const storedAs = useStoredAs()
  if (media.kind === 'place') return <PlaceCard place={media.place} />
  const { url } = media
  const stored = storedAs(url)
  if (stored === null) return <MediaFault text={t.faults.foreign} />

  const name = mediaNames[media.kind]
  const alt = t.from({
    kind: name,
    name: nameOf(message.sender.name, message.sender_address),
    time: timeOf(message.created_at),
  })
  const sealed = (type: string) => () => openSealed({ url, type, key: keyFor(message, live, isSealed) })
  if (media.kind === 'voice') {
    const open = stored === 'shown' ? () => load(url) : sealed('audio/webm')
    return <Near className={styles.voiceFrame}>{() => <Voice open={open} seconds={media.seconds} label={alt} />}</Near>
  }
  if (media.kind !== 'image') {
    if (stored === 'sealed') return <MediaFault text={t.faults.noKey} />
    return <StoredPicture url={url} kind={media.kind === 'picture' ? 'photo' : media.kind} alt={alt} />
  }
  if (!imageMimeTypes.some((type) => type === media.type)) return <MediaFault text={t.faults.unknownType} />
  const kind = media.type === 'image/gif' ? 'gif' : 'photo'
  return <SealedPicture open={sealed(media.type)} url={url} kind={kind} alt={alt} />
}

/** Media are sealed by the key of the epoch that their message names; what is not sent yet, by the one of now. */
export async function keyFor({ secrecy }: LocalMessage, live: LiveRoom, isSealed: boolean): Promise<Uint8Array> {
  if (!isSealed || secrecy?.isSecret === false) throw new Error(t.faults.otherKey)
  return (await live.conversationKey(secrecy?.epochId)).key
}

function Voice({ open, seconds, label }: { open: () => Promise<Blob>; seconds: number; label: string }) {
  const { value, error, reload } = useLoaded('voice', open)
  if (error) return <MediaFault text={problemText(error)} onRetry={reload} />
  if (!value) return <span className={styles.pictureWaits} role="status" aria-label={t.loading({ name: label })} />
  return (
    <section aria-label={label}>
      <VoicePlayer sound={value} seconds={seconds} />
    </section>
  )
}
