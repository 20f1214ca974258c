import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Icon } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { lookOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { goTo } from '../rooms/route.ts'
import { tourTexts as t } from '../texts/tour.ts'

/** In the demo, somebody may become moderator of the rooms that the demo gave to this browser. */
export function BecomeModerator() {
  const client = useClient()
  const { status } = useSession()
  const { rights, live, account, reopen } = useOpenRoom()
  const tell = useTell()
  if (!status?.demo || rights.isModerator || !lookOf(live.ref).isOfDemo) return null
  const become = async () => {
    await client.status.becomeModerator()
    const asked = { action: 'permissions', userAddress: account, channelId: live.ref.id ?? 'global' } as const
    const answer = await client.moderation.inspect(asked)
    const isHere = 'permissions' in answer && (answer.permissions.canMute || answer.permissions.canDelete)
    if (!isHere) return tell(t.demo.elsewhere)
    tell(t.demo.moderator)
    reopen()
    goTo(live.ref, 'moderation')
  }
  return (
    <ActButton className="button small plain" onPress={become}>
      <Icon name="shield" />
      {t.demo.moderate}
    </ActButton>
  )
}
