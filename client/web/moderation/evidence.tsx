import { useState } from 'react'
import type { QueueItem } from '#shared/api/moderation-records'
import { useClient } from '../connection/client.ts'
import { problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import styles from '../media/media.module.css'
import { MediaFault } from '../media/media-fault.tsx'
import { SealedPicture } from '../media/picture.tsx'
import { VoicePlayer } from '../media/voice-player.tsx'

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
          {isVoice ? 'Listen to the voice message' : 'Show the picture'}
        </button>
      ) : isVoice ? (
        <Sound open={open} />
      ) : (
        <SealedPicture open={open} kind="photo" alt="Handed in with this report" />
      )}
      <p className="hint">
        {evidence.is_as_sent
          ? 'Matches what was sent in this message’s room.'
          : 'Not shown to be what was sent: only the person who reports it says so.'}
      </p>
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
