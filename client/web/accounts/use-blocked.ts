import { useEffect, useMemo } from 'react'
import { useClient } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'

const changes = new EventTarget()
/** To be called after somebody was blocked or unblocked in this page. */
export const blocksChanged = (): void => void changes.dispatchEvent(new Event('change'))

/** Whom this account has blocked, by id. */
export function useBlocked(): ReadonlySet<string> {
  const client = useClient()
  const { value, reload } = useLoaded('blocks', async () => (await client.social.blocks()).blockedUsers)
  useEffect(() => {
    changes.addEventListener('change', reload)
    return () => changes.removeEventListener('change', reload)
  }, [reload])
  return useMemo(() => new Set(value?.map(({ blocked_address }) => blocked_address)), [value])
}
