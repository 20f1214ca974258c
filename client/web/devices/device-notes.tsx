import { Icon } from '../kit/icon.tsx'
import type { OwnTracks } from './own-media.ts'

/** What happened to a device, and why one is not on. */
export function DeviceNotes({ tracks: { notice, problem } }: { tracks: OwnTracks }) {
  return (
    <>
      {notice && (
        <p className="banner" role="status">
          <Icon name="warn" />
          {notice}
        </p>
      )}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}
