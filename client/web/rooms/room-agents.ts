import { useEffect, useSyncExternalStore } from 'react'
import { observable } from '#client/sdk/observable'
import type { Client, LiveRoom } from '#client/sdk/types'
import type { agentRooms } from '#shared/api/agents/agent-rooms'
import { isSameAccount } from '#shared/kit/accounts'
import type { OutputOf } from '#shared/kit/contract'
import { accountOfAgent } from '#shared/kit/room-agents'
import { useClient } from '../connection/client.ts'
import { kindOf } from './kind.ts'
import { useOpenRoom } from './room-context.ts'

export type RoomAgent = OutputOf<typeof agentRooms.inRoom>['agents'][number]

const none: readonly RoomAgent[] = []
const deadlineMilliseconds = 2_000
/** Null until they are loaded. */
const newAgents = () => observable<readonly RoomAgent[] | null>(null)
const kept = new WeakMap<LiveRoom, ReturnType<typeof newAgents>>()

function agentsOf(live: LiveRoom): ReturnType<typeof newAgents> {
  const agents = kept.get(live) ?? newAgents()
  kept.set(live, agents)
  return agents
}

/** The agents that answer in the open room; they are loaded each time that somebody begins to want them. */
export function useRoomAgents(isWanted: boolean): readonly RoomAgent[] {
  const client = useClient()
  const { live } = useOpenRoom()
  const agents = agentsOf(live)
  useEffect(() => {
    if (isWanted) void load(client, live)
  }, [isWanted, client, live])
  return useSyncExternalStore(agents.subscribe, () => agents.value) ?? none
}

/** The agents that answer in a room, for a text that is sent now: none where they cannot be loaded soon. */
export async function agentsFor(text: string, client: Client, live: LiveRoom): Promise<readonly RoomAgent[]> {
  const agents = agentsOf(live)
  if (agents.value === null && text.includes('@'))
    await Promise.race([load(client, live), new Promise((resolve) => setTimeout(resolve, deadlineMilliseconds))])
  return agents.value ?? none
}

/** An agent that answers here; undefined while it is not known. */
export function useRoomAgent(account: string, isAgent: boolean): RoomAgent | undefined {
  return useRoomAgents(isAgent).find(({ id }) => isSameAccount(accountOfAgent(id), account))
}

const asked = new WeakMap<LiveRoom, Promise<void>>()

/** Several who want them at the same time are answered together. */
function load(client: Client, live: LiveRoom): Promise<void> {
  const { id } = live.ref
  if (kindOf(live.ref).isSealed) return Promise.resolve()
  const loading =
    asked.get(live) ??
    client.agents
      .inRoom({ id: id ?? 'global' })
      .then(
        ({ agents }) => agentsOf(live).set(agents),
        () => {},
      )
      .finally(() => asked.delete(live))
  asked.set(live, loading)
  return loading
}
