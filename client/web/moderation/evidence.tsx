import { useState } from 'react'
import type { QueueItem } from '#shared/api/moderation/moderation-records'
import { useClient } from '../connection/client.ts'
import { problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import styles from '../media/media.module.css'
import { MediaFault } from '../media/media-fault.tsx'
import { SealedPicture } from '../media/picture.tsx'
import { VoicePlayer } from '../media/voice-player.tsx'
import { moderationTexts as t } from '../texts/moderation.ts'

/** The media that were handed in with a report; loaded when a moderator asks for them, as nobody sees such a picture by surprise. */
export function Evidence({ item, evidence }: { item: string; evidence: NonNullable<QueueItem['evidence']> }) {
  const client = useClient()
  const [isShown, setShown] = useState(false)
  const isVoice = evidence.type.startsWith('audio/')
  const open = async () => {
    const { data, type } = await client.moderation.evidence({ item })
    return new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type })
  }
  return (
    <div>
      {!isShown ? (
        <button type="button" className="button small" onClick={() => setShown(true)}>
          {isVoice ? t.evidence.listen : t.evidence.show}
        </button>
      ) : isVoice ? (
        <Sound open={open} />
      ) : (
        <SealedPicture open={open} kind="photo" alt={t.evidence.picture} />
      )}
      <p className="hint">{evidence.is_as_sent ? t.evidence.verified : t.evidence.unverified}</p>
    </div>
  )
}

function Sound({ open }: { open: () => Promise<Blob> }) {
  const { value, error, reload } = useLoaded('voice', open)
  if (error) return <MediaFault text={problemText(error)} onRetry={reload} />
  return (
    <div className={styles.voiceFrame}>
      {value ? <VoicePlayer sound={value} seconds={0} /> : <span className={styles.pictureWaits} role="status" />}
    </div>
  )
}
