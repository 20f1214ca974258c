import { dmOf } from '#shared/kit/room-key'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { goTo } from '../rooms/route.ts'
import { useRoomList } from '../rooms/use-rooms.ts'

/** Opens the conversation with somebody, which is made where there is none. */
export function useOpenDm(): (account: string) => Promise<void> {
  const client = useClient()
  const { account } = useSession()
  const { reload } = useRoomList()
  return async (other) => {
    await client.rooms.openDm({ recipientAddress: other })
    reload()
    goTo(dmOf(account, other))
  }
}
