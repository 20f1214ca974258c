import { useEffect, useRef } from 'react'
import { asAppError, wasNotAnswered } from '#client/sdk/failures'
import { table } from '#client/sdk/table'
import type { KnowledgeItem } from '#shared/api/agents/knowledge-records'
import { useClient, useConnectionState } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import type { readingInput } from './knowledge-fields.tsx'

const lookAgainMilliseconds = 3_000

/** What an agent knows, as it changes: told by the socket, else asked for while something is being read. */
export function useKnowledge(agentId: string) {
  const client = useClient()
  const connection = useConnectionState()
  const isLive = connection === 'online'
  const loaded = useLoaded(agentId, async () => {
    const { items } = isLive
      ? await client.knowledge.watch({ agent_id: agentId })
      : await client.knowledge.list({ id: agentId })
    return items
  })
  const { change, reload } = loaded

  useEffect(
    () =>
      client.on(
        table.events.knowledgeEvent,
        ({ agent_id, knowledge_id, status, pages, chunks, error, stale_since }) => {
          if (agent_id !== agentId) return
          change((items) =>
            status === 'removed'
              ? items.filter(({ id }) => id !== knowledge_id)
              : items.map((item) =>
                  item.id === knowledge_id
                    ? { ...item, status, pages, chunk_count: chunks, error_message: error, stale_since }
                    : item,
                ),
          )
        },
      ),
    [client, agentId, change],
  )
  const was = useRef(isLive)
  useEffect(() => {
    if (was.current !== isLive) reload()
    was.current = isLive
  }, [isLive, reload])
  const isReading = loaded.value?.some(({ status }) => status === 'processing') === true
  useEffect(() => {
    if (isLive || !isReading) return
    const timer = setInterval(reload, lookAgainMilliseconds)
    return () => clearInterval(timer)
  }, [isLive, isReading, reload])

  return {
    ...loaded,
    async add(url: string, reading: ReturnType<typeof readingInput>) {
      await this.show((await client.knowledge.add({ id: agentId, url, ...reading })).item)
    },
    async addText(title: string, text: string) {
      await this.show((await client.knowledge.addText({ id: agentId, title, text })).item)
    },
    async addFile(file: File) {
      await this.show((await client.knowledge.addFile({ id: agentId, file, name: file.name })).item)
    },
    async show(item: KnowledgeItem) {
      change((items) => [...items.filter(({ id }) => id !== item.id), item])
      await this.read(item.id)
    },
    /** Reads a page; what it comes to is told of its item. */
    async read(knowledgeId: string) {
      change((items) =>
        items.map((item) => (item.id === knowledgeId ? { ...item, status: 'processing', pages: 0 } : item)),
      )
      void client.knowledge
        .index({ id: agentId, knowledgeId })
        .catch((error: unknown) => wasNotAnswered(asAppError(error)) || reload())
        .then(() => isLive || reload())
    },
    async update(knowledgeId: string, reading: ReturnType<typeof readingInput>) {
      const { item } = await client.knowledge.update({ id: agentId, knowledge_id: knowledgeId, ...reading })
      change((items) => items.map((one) => (one.id === knowledgeId ? item : one)))
    },
    async remove(knowledgeId: string) {
      await client.knowledge.remove({ id: agentId, knowledge_id: knowledgeId })
      change((items) => items.filter(({ id }) => id !== knowledgeId))
    },
  }
}
