import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { places as contract } from '#shared/api/rooms/places'
import { done } from '#shared/kit/primitives'
import { claimPosition } from './claims.ts'
import { placeSettings } from './settings.ts'

export const places = defineDomain(
  contract,
  {
    async claim(position, context) {
      const { counts_until, kept_until } = await claimPosition(context.node, signedIn(context).account, position)
      return { ...done, counts_until: counts_until.toISOString(), kept_until: kept_until.toISOString() }
    },
  },
  { settings: placeSettings },
)
