import { createContext, useCallback, useContext, useMemo, useState } from 'react'
import type { Client } from '#client/sdk/types'

/** Whether this page has cut its connection on purpose, and the switch for it. */
type Cut = readonly [isCut: boolean, cut: (isCut: boolean) => void]

export const CutContext = createContext<Cut>([false, () => {}])
export const useCut = (): Cut => useContext(CutContext)

export function useCutting(client: Client): Cut {
  const [isCut, setCut] = useState(false)
  const cut = useCallback(
    (on: boolean) => {
      if (on) client.pause()
      else client.resume()
      setCut(on)
    },
    [client],
  )
  return useMemo(() => [isCut, cut], [isCut, cut])
}
