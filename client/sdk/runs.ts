import { v7 as uuid } from 'uuid'
import type { RunFrame } from '#shared/api/agents/run-frames'
import { isSameAccount } from '#shared/kit/accounts'
import { asAppError, isPassing, wasNotAnswered } from './failures.ts'
import { type LiveRun, OpenRun, type RunPlace } from './run.ts'
import { isOver, newRun, type RunState } from './run-state.ts'
import { readStored, writeStored } from './storage.ts'
import { table } from './table.ts'
import type { Client } from './types.ts'

export type { LiveRun } from './run.ts'
export type { RunState, RunStatus, RunTool } from './run-state.ts'

/** The answers of agents that a client follows. */
export interface Runs {
  /** Asks an agent. It is asked again with the same key until a server has accepted or refused it, also after a reload: see `active`. */
  ask(agentId: string, message: string, place?: RunPlace): LiveRun
  /** Follows an answer that was begun before, or on another device. */
  open(run: { runId: string; agentId: string; message?: string; key?: string } & Partial<RunPlace>): LiveRun
  /**
   * Follows every answer to this account that is still being written: after a reload, they go on where they are. What was asked here,
   * and no server has accepted or refused yet, is asked again.
   */
  active(agentId?: string): Promise<LiveRun[]>
}

const known = new WeakMap<Client, Runs>()

/** The answers that a client follows. They are apart from the client, so that a page may load them when somebody asks. */
export function runsOf(client: Client): Runs {
  const runs = known.get(client) ?? follow(client)
  known.set(client, runs)
  return runs
}

/** The conversation of questions without a named one. */
export const mainConversation = 'main'

const heldAtMost = 500
const unsentAtMost = 50

/** A question that no server has accepted or refused yet. */
interface Unsent {
  key: string
  agentId: string
  message: string
  /** Absent in what older versions stored. */
  place?: RunPlace
}

/** The questions of an account that a reload must not lose. */
function unsentOf({ storage, account }: Client) {
  const name = `plaza:asked:${account}`
  const all = () => readStored<Unsent[]>(storage, name) ?? []
  const without = (gone: string) => all().filter(({ key }) => key !== gone)
  return {
    all,
    add: (unsent: Unsent) => writeStored(storage, name, [...without(unsent.key), unsent].slice(-unsentAtMost)),
    drop(key: string) {
      const left = without(key)
      writeStored(storage, name, left.length === 0 ? null : left)
    },
  }
}

function follow(client: Client): Runs {
  const open = new Set<OpenRun>()
  /** Frames that came before the answer to the question which began their run. */
  const early: RunFrame[] = []
  let asking = 0

  const runOf = (runId: string) => [...open].find(({ state }) => state.runId === runId)
  const opened = (run: OpenRun) => {
    open.add(run)
    run.follow(client.connection.state)
    return run
  }
  const added = (agentId: string, key: string, state: RunState, { session, replaces }: Partial<RunPlace> = {}) =>
    new OpenRun({
      ...{ client, agentId, key, state, session: session ?? mainConversation, replaces },
      closed: (run) => void open.delete(run),
      cancelled: (run) => unsentOf(client).drop(run.key),
    })
  const accept = (run: OpenRun, runId: string) => {
    run.accepted(runId)
    run.deliver(early.filter((frame) => frame.run_id === runId))
  }

  client.on(table.events.runFrame, (frame) => {
    const run = runOf(frame.run_id)
    if (run) run.deliver([frame])
    else if (asking > 0 && early.length < heldAtMost) early.push(frame)
  })
  client.connection.subscribe(() => {
    const { state } = client.connection
    for (const run of [...open]) {
      if (state === 'closed') run.close()
      else run.follow(state)
    }
  })
  let { account } = client
  client.session.subscribe(() => {
    if (account !== null && !isSameAccount(client.account, account)) for (const run of [...open]) run.close()
    account = client.account
  })

  const begin = (question: Unsent): OpenRun => {
    const unsent = unsentOf(client)
    unsent.add(question)
    const run = opened(added(question.agentId, question.key, newRun(question.message, null), question.place))
    asking += 1
    void send(client, run, (runId) => accept(run, runId)).finally(() => {
      asking -= 1
      if (asking === 0) early.length = 0
      if (run.state.runId !== null || isOver(run.state)) unsent.drop(question.key)
    })
    return run
  }

  const runs: Runs = {
    ask: (agentId, message, place) => begin({ key: uuid(), agentId, message, ...(place && { place }) }),
    open: ({ runId, agentId, message = '', key = runId, ...place }) =>
      runOf(runId) ?? opened(added(agentId, key, newRun(message, runId), place)),
    async active(agentId) {
      const found = await client.agents.active(agentId === undefined ? {} : { agent_id: agentId })
      const byKey = (key: string) => [...open].find((run) => run.key === key)
      const running = found.runs.map(
        ({ run_id: runId, agent_id, message, client_run_id: key, sessionId: session, replaces }) =>
          byKey(key) ?? runs.open({ runId, agentId: agent_id, message, key, session, replaces }),
      )
      const unsent = unsentOf(client)
        .all()
        .filter((one) => agentId === undefined || one.agentId === agentId)
        .filter(({ key }) => running.every((run) => run.key !== key))
      return [...running, ...unsent.map((one) => byKey(one.key) ?? begin(one))]
    },
  }
  return runs
}

const lookMilliseconds = 400

/** Asks until it is accepted or refused: by the socket, or by REST, where the id of the run is found beside the answer. */
async function send(client: Client, run: OpenRun, accept: (runId: string) => void): Promise<void> {
  const { agentId } = run
  while (!run.isClosed && run.state.runId === null) {
    try {
      if (client.connection.state === 'rest') await askByRest(client, run, accept)
      else accept((await client.agents.run({ agent_id: agentId, ...questionOf(run) })).run_id)
      return
    } catch (error) {
      const refusal = asAppError(error)
      if (run.state.runId !== null) return
      if (!wasNotAnswered(refusal) || !isPassing(refusal)) return run.refused(refusal)
      await run.pause(lookMilliseconds * 2)
    }
  }
}

const questionOf = ({ key, session, replaces, state }: OpenRun) => ({
  client_run_id: key,
  message: state.message,
  ...(session !== mainConversation && { sessionId: session }),
  ...(replaces !== undefined && { replaces }),
})

async function askByRest(client: Client, run: OpenRun, accept: (runId: string) => void): Promise<void> {
  const { agentId, key } = run
  let isAnswered = false
  const answer = client.agents.chat({ id: agentId, ...questionOf(run) }).finally(() => {
    isAnswered = true
  })
  const look = async () => {
    while (!isAnswered && !run.isClosed && run.state.runId === null) {
      await run.pause(lookMilliseconds)
      const { runs } = await client.agents.active({ agent_id: agentId })
      const found = runs.find(({ client_run_id }) => client_run_id === key)
      if (found) accept(found.run_id)
    }
  }
  void look().catch(() => undefined)
  const { run_id } = await answer
  if (run.state.runId === null) accept(run_id)
}
