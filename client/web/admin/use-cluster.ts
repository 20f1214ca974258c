import { useCallback, useEffect, useState } from 'react'
import type { NodeFigures } from '#shared/api/platform/cluster'
import { useClient } from '../connection/client.ts'
import type { Listing } from '../kit/use-loaded.ts'

const everyMilliseconds = 3_000
const samplesKept = 40

/** The current figures of a node, and those of the last samples. */
export interface SeenNode {
  now: NodeFigures
  before: readonly NodeFigures[]
}

/** The nodes, requested every few seconds while the page is visible. */
export function useCluster(): Listing<readonly SeenNode[]> {
  const client = useClient()
  const [value, setValue] = useState<readonly SeenNode[] | null>(null)
  const [error, setError] = useState<unknown>(null)

  const ask = useCallback(async () => {
    try {
      const { nodes } = await client.cluster.nodes()
      setValue((seen) => nodes.map((now) => ({ now, before: [...pastOf(seen, now.id), now].slice(-samplesKept) })))
      setError(null)
    } catch (reason) {
      setError(reason)
    }
  }, [client])

  useEffect(() => {
    void ask()
    const timer = setInterval(() => {
      if (!document.hidden) void ask()
    }, everyMilliseconds)
    return () => clearInterval(timer)
  }, [ask])

  return { value, error, isLoading: value === null && !error, reload: () => void ask() }
}

const pastOf = (seen: readonly SeenNode[] | null, id: string): readonly NodeFigures[] =>
  seen?.find(({ now }) => now.id === id)?.before ?? []
