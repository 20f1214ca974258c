import { Dialog } from '../kit/dialog.tsx'
import { sharedKeyText } from './secrecy-words.ts'

/** What the shared key of a room protects from, and what not. */
export function SharedKeyDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={sharedKeyText} onClose={onClose}>
      <div className="stack wide">
        <p>
          Text and media here are sealed by a key that the members of this room share. Who steals the store of this
          server, or a backup of it, cannot read them, and neither can who is no member.
        </p>
        <p>
          Those who run this server hold the key and can read everything. So can whoever was a member and kept the key:
          it stays the same when somebody leaves. Messages from before are in clear where it says so below them.
        </p>
        <p>
          Search, polls, link previews, blocked words and agents do not work here, as they would have to read the
          messages. Bans, mutes, slow mode and read-only do.
        </p>
      </div>
    </Dialog>
  )
}
