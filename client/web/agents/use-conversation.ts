import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type LiveRun, mainConversation, type RunState, runsOf } from '#client/sdk/runs'
import { table } from '#client/sdk/table'
import type { ChatMessage } from '#shared/api/agents/agent-runs'
import { useClient, useConnectionState } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'

/** A question with its answer: one that is followed, else as it is kept. */
export interface Exchange {
  key: string
  /** Null before a server has accepted the question. */
  runId: string | null
  question: string
  askedAt: string | null
  run: LiveRun | null
  kept: ChatMessage | null
}

const pageSize = 50

/** What was said to an agent and by it, and what it is saying. Answers that are being written are found again after a reload. */
export function useConversation(agentId: string, session = mainConversation) {
  const client = useClient()
  const runs = runsOf(client)
  const [followed, setFollowed] = useState<readonly LiveRun[]>([])
  /** When each question was asked here, by its key. */
  const asked = useRef(new Map<string, string>())
  const [older, setOlder] = useState<readonly ChatMessage[]>([])
  const [hasOlder, setHasOlder] = useState(false)
  const add = useCallback(
    (more: readonly LiveRun[]) =>
      setFollowed((known) => [
        ...known,
        ...more.filter((one) => one.session === session && known.every((run) => run.key !== one.key)),
      ]),
    [session],
  )
  const loaded = useLoaded(`${agentId} ${session}`, async () => {
    const ended = followed.filter(({ state }) => state.runId !== null && isEnded(state))
    const active = await runs.active(agentId)
    const { chats } = await client.agents.history({ id: agentId, sessionId: session, limit: pageSize })
    const there = new Set(chats.map(({ run_id }) => run_id))
    const isDeleted = ({ state: { runId } }: LiveRun) =>
      runId !== null && runId > (chats[0]?.run_id ?? '') && !there.has(runId)
    setFollowed((known) => known.filter((run) => !(ended.includes(run) && isDeleted(run))))
    add(active)
    if (older.length === 0) setHasOlder(chats.length === pageSize)
    return chats
  })
  useReturn(loaded.reload)
  useBegunElsewhere(agentId, session, followed, loaded.reload)

  const exchanges = useMemo(
    () => exchangesOf([...older, ...(loaded.value ?? [])], followed, asked.current),
    [older, loaded.value, followed],
  )
  return {
    loaded,
    exchanges,
    hasOlder,
    /** Asks a question, in the place of an earlier one if that is named. */
    ask(message: string, replaces?: string) {
      const run = runs.ask(agentId, message, { session, replaces })
      asked.current.set(run.key, new Date().toISOString())
      add([run])
    },
    async loadOlder() {
      const before = (older[0] ?? loaded.value?.[0])?.id
      const { chats } = await client.agents.history({
        id: agentId,
        sessionId: session,
        limit: pageSize,
        ...(before && { before }),
      })
      setOlder((known) => [...chats, ...known])
      setHasOlder(chats.length === pageSize)
    },
  }
}

function exchangesOf(
  kept: readonly ChatMessage[],
  followed: readonly LiveRun[],
  asked: ReadonlyMap<string, string>,
): Exchange[] {
  const found = new Map<string, Exchange>()
  for (const message of kept) {
    const { run_id, role, content, created_at } = message
    const before = found.get(run_id) ?? {
      ...{ key: run_id, runId: run_id, question: '', askedAt: null },
      ...{ run: null, kept: null },
    }
    found.set(run_id, {
      ...before,
      ...(role === 'user' ? { question: content, askedAt: created_at } : { kept: message }),
    })
  }
  for (const run of followed) {
    const id = run.state.runId ?? run.key
    const { askedAt = asked.get(run.key) ?? null, question = run.state.message } = found.get(id) ?? {}
    found.set(id, { key: run.key, runId: run.state.runId, question, askedAt, run, kept: null })
  }
  return [...found.values()].filter((exchange) => followed.every((run) => !isReplacedBy(run, exchange)))
}

const isEnded = ({ status }: RunState) => status !== 'sending' && status !== 'running'

/** Whether a question has taken the place of an earlier one. Ids of runs are ordered by time. */
const isReplacedBy = ({ replaces, state }: LiveRun, { runId }: Exchange): boolean =>
  replaces !== undefined &&
  state.status !== 'refused' &&
  runId !== null &&
  runId >= replaces &&
  (state.runId === null || runId < state.runId)

/** Calls back when another device of the account has asked this agent. */
function useBegunElsewhere(agentId: string, session: string, followed: readonly LiveRun[], begun: () => void): void {
  const client = useClient()
  const known = useRef(followed)
  known.current = followed
  useEffect(
    () =>
      client.on(table.events.runBegun, ({ agent_id, client_run_id, sessionId = mainConversation }) => {
        if (agent_id === agentId && sessionId === session && known.current.every(({ key }) => key !== client_run_id))
          begun()
      }),
    [client, agentId, session, begun],
  )
}

/** Calls back when the page is shown again or connected again, as another device may have asked meanwhile. */
function useReturn(returned: () => void): void {
  const state = useConnectionState()
  const was = useRef(state)
  useEffect(() => {
    if (state === 'online' && was.current !== 'online' && was.current !== 'connecting') returned()
    was.current = state
  }, [state, returned])
  useEffect(() => {
    const look = () => {
      if (!document.hidden) returned()
    }
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [returned])
}
