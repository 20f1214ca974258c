import type { Member } from '#shared/api/rooms'
import { Avatar } from '../kit/avatar.tsx'
import { nameOf } from '../kit/format.ts'
import type { Mentions } from './use-mentions.ts'

export function MentionPicker({ mentions, onPick }: { mentions: Mentions; onPick: (member: Member) => void }) {
  return (
    <div id="mention-picker" className="menu mention-picker" role="listbox" aria-label="Members">
      {mentions.found.map((member, at) => (
        <button
          key={member.user_address}
          type="button"
          role="option"
          id={`mention-${at}`}
          tabIndex={-1}
          aria-selected={at === mentions.chosen}
          onPointerDown={(event) => {
            event.preventDefault()
            onPick(member)
          }}
        >
          <Avatar id={member.user_address} name={member.name} size="small" />
          {nameOf(member.name, member.user_address)}
          {member.username && <small>@{member.username}</small>}
        </button>
      ))}
    </div>
  )
}
