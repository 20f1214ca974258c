import { defineDomain } from '#server/kernel/domain'
import { inbox as contract } from '#shared/api/rooms/inbox'
import { alphaMembership } from './alpha-membership.ts'
import { directPreviews } from './direct-previews.ts'
import { list, locationChats } from './list.ts'
import { openAgain } from './open-again.ts'
import { followUnread, greetNotifications } from './unread.ts'

export const inbox = defineDomain(
  contract,
  { list, alphaMembership, directPreviews, locationChats, openAgain },
  {
    connected: { '/notifications': greetNotifications },
    start: (node) => [followUnread(node)],
  },
)
