import { isSameAccount } from '#shared/kit/accounts'
import { roomKey } from '#shared/kit/room-key'
import { nameOf } from '../kit/format.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { titleOf } from '../rooms/room-title.ts'
import { keyOf, useRoomList } from '../rooms/use-rooms.ts'
import { directTexts } from '../texts/direct.ts'

/** What the two people of the open conversation are called. */
export function useTitle(): (address: string) => string {
  const { live, account } = useOpenRoom()
  const known = useRoomList().value?.find((room) => keyOf(room) === roomKey(live.ref))
  return (address) =>
    isSameAccount(address, account) ? directTexts.you : known ? titleOf(known) : nameOf(null, address)
}
