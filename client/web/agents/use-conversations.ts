import { useCallback, useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import type { Conversation } from '#shared/api/agents/agent-conversations'
import { useClient } from '../connection/client.ts'
import { useSettled } from '../kit/use-loaded.ts'
import { usePages } from '../kit/use-pages.ts'

/** The conversations of the account with an agent, last asked first, and those that a search finds. */
export function useConversations(agentId: string) {
  const client = useClient()
  const [search, setSearch] = useState('')
  const wanted = useSettled(search.trim())
  const pages = usePages<Conversation>(`${agentId} ${wanted}`, async (cursor) => {
    const { conversations: items, next_cursor } = await client.agents.conversations({
      id: agentId,
      ...(wanted && { search: wanted }),
      ...(cursor !== undefined && { cursor }),
    })
    return { items, next_cursor }
  })
  const { reload } = pages
  useEffect(
    () =>
      client.on(table.events.runBegun, ({ agent_id }) => {
        if (agent_id === agentId) reload()
      }),
    [client, agentId, reload],
  )
  const rename = useCallback(
    async (sessionId: string, title: string) => {
      await client.agents.renameConversation({ id: agentId, sessionId, title })
      reload()
    },
    [client, agentId, reload],
  )
  return { pages, search, setSearch, isSearched: wanted !== '', rename }
}
export type ConversationsOfAgent = ReturnType<typeof useConversations>
