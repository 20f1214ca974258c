import type { Agent } from '#shared/api/agents/agent-records'
import { useClient } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'

export const useAgent = (id: string) => {
  const client = useClient()
  return useLoaded<Agent>(id, async () => (await client.agents.get({ id })).agent)
}
