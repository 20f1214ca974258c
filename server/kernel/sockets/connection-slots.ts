import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressOf, clientAddressOf, isProxy, type Proxies } from '#server/kernel/addresses'
import type { Caller } from '#server/kernel/context'
import { onAnswerEnd } from '#server/kernel/http/deadline'
import { budgets, type CallerKind, scaledBudget } from '#server/kernel/limits/budgets'
import { createConnectionCounter } from '#server/kernel/opens'
import { briefMemory } from '#server/kernel/store/kept-answers'
import { isSameAccount } from '#shared/kit/accounts'

/** Viewers of media have their own slots. */
type SlotKind = CallerKind | 'viewer'

const barMilliseconds = 10_000
const mostBarred = 10_000
const dayMilliseconds = 24 * 60 * 60 * 1000
/** The time after which an answer or an anonymous connection may lose its slot, if all are taken. */
const deadlineMilliseconds = (kind: SlotKind) => (kind === 'anonymous' ? 1_000 : 10_000)

interface Slot {
  address: string
  kind: SlotKind
  account: string | null
  socket: Socket
  /** Requests without an answer yet. */
  running: number
  /** The start of the last of them, or of the connection. */
  since: number
  isLive: boolean
}

/**
 * Counts connections by address and account. A proxy's connection counts as its client's, while it carries a request.
 */
export function openConnectionSlots(server: Server, proxies: Proxies, scale: number) {
  const taken = new Map<string, Set<Slot>>()
  const bySocket = new WeakMap<Socket, Slot>()
  const barred = briefMemory<true>(mostBarred)
  const opens = createConnectionCounter(scaledBudget(budgets.openedOfAddress, scale))

  server.on('connection', (socket) => {
    // A connection that requested another protocol is reported a second time.
    if (bySocket.has(socket)) return
    const remote = socket.remoteAddress ?? 'unknown'
    if (isProxy(proxies, remote)) return
    const slot = newSlot(addressOf(undefined, 0, remote), socket)
    if (barred.get(slot.address) || !opens(slot.address) || !enter(slot, 'anonymous', null))
      return void socket.destroy()
    bySocket.set(socket, slot)
    socket.once('close', () => leave(slot))
  })

  function leave(slot: Slot): void {
    const key = `${slot.kind} ${slot.address}`
    const bucket = taken.get(key)
    bucket?.delete(slot)
    if (bucket?.size === 0) taken.delete(key)
  }

  /** False if all slots of the kind are taken and none can be freed. */
  function enter(slot: Slot, kind: SlotKind, account: string | null): boolean {
    const key = `${kind} ${slot.address}`
    const holders = taken.get(key) ?? new Set()
    const free = scaledBudget(budgets.connectionsOfAddress[kind], scale) - holders.size + Number(holders.has(slot))
    if (free <= 0) {
      const others = [...holders].filter((other) => other !== slot)
      const giving = idleAmong(others) ?? oldestOfMost(others, account)
      if (!giving) return false
      leave(giving)
      giving.socket.destroy()
    }
    leave(slot)
    Object.assign(slot, { kind, account })
    taken.set(key, holders.add(slot))
    return true
  }

  /** The slot of a request that a proxy carries. */
  const carried = (request: IncomingMessage) => newSlot(clientAddressOf(request, proxies), request.socket)

  return {
    /**
     * Refuses new connections from the address of a socket for 10 s. Proxies are never refused, because they carry
     * other clients.
     */
    bar({ remoteAddress = 'unknown' }: Socket): void {
      if (!isProxy(proxies, remoteAddress)) barred.set(addressOf(undefined, 0, remoteAddress), true, barMilliseconds)
    },
    /**
     * Takes a slot for a request that a proxy carries. If no anonymous slot is free, it tries the kind of its session.
     * False if none is free.
     */
    async arrive(
      request: IncomingMessage,
      ended: ServerResponse | Socket,
      asker: () => Promise<Pick<Caller, 'account' | 'session'>>,
      now: number,
    ): Promise<boolean> {
      if (bySocket.has(request.socket)) return true
      const slot = carried(request)
      if (!enter(slot, 'anonymous', null)) {
        const caller = await asker()
        if (caller.account === null || ended.destroyed || !enter(slot, callerKindOf(caller, now), caller.account))
          return false
      }
      bySocket.set(request.socket, slot)
      onAnswerEnd(request, ended, () => {
        leave(slot)
        bySocket.delete(request.socket)
      })
      return true
    },
    /**
     * Takes a viewer's slot for a media request; false if none is free. Viewers ask several times a second, so they
     * have their own slots.
     */
    view(request: IncomingMessage, ended: ServerResponse): boolean {
      const known = bySocket.get(request.socket)
      const slot = known ?? carried(request)
      if (!enter(slot, 'viewer', null)) return false
      bySocket.set(request.socket, slot)
      slot.running++
      slot.since = performance.now()
      onAnswerEnd(request, ended, () => {
        slot.running--
        if (known) return
        leave(slot)
        bySocket.delete(request.socket)
      })
      return true
    },
    /** Keeps the slot of a complete request until its answer. */
    begin(request: IncomingMessage, response: ServerResponse): void {
      const slot = bySocket.get(request.socket)
      if (!slot) return
      slot.running++
      slot.since = performance.now()
      response.once('close', () => slot.running--)
    },
    /** Keeps the slot of a connection that becomes a live one. */
    stay(request: IncomingMessage): void {
      const slot = bySocket.get(request.socket)
      if (slot) Object.assign(slot, { isLive: true, since: performance.now() })
    },
    /**
     * Moves the connection to the kind of its caller. False if that kind has no free slot; the connection then keeps
     * its present one.
     */
    recognise({ socket }: IncomingMessage, caller: Caller, now: number): boolean {
      const slot = bySocket.get(socket)
      const kind = callerKindOf(caller, now)
      const isSettled = slot?.kind === kind && isSameAccount(slot.account, caller.account)
      if (!slot || slot.socket.destroyed || isSettled) return true
      return enter(slot, kind, caller.account)
    },
  }
}
export type ConnectionSlots = ReturnType<typeof openConnectionSlots>

const newSlot = (address: string, socket: Socket): Slot => ({
  ...{ address, socket, kind: 'anonymous', account: null },
  ...{ running: 0, since: performance.now(), isLive: false },
})

/**
 * The kind of a caller. Anybody can create wallet accounts, so these are guests for a day. `userId` begins with the
 * time of creation.
 */
export function callerKindOf({ account, session }: Pick<Caller, 'account' | 'session'>, now: number): CallerKind {
  if (account === null || session === null) return 'anonymous'
  const madeAt = Number.parseInt(session.userId.replaceAll('-', '').slice(0, 12), 16)
  if (now - madeAt >= dayMilliseconds || session.authMethod === 'service') return 'regular'
  return ['wallet', 'solana'].includes(session.authMethod) ? 'guest' : 'newcomer'
}

/** A connection to close for a new one: an idle one, an overdue answer, or an anonymous live one. */
function idleAmong(slots: readonly Slot[]): Slot | undefined {
  const now = performance.now()
  return slots.find(({ kind, isLive, running, since }) => {
    const isOverdue = now - since > deadlineMilliseconds(kind)
    return isLive ? kind === 'anonymous' && isOverdue : running === 0 || isOverdue
  })
}

/** The oldest slot of the account with the most slots, if it would still have more than the new one. */
function oldestOfMost(slots: readonly Slot[], account: string | null): Slot | undefined {
  const held = new Map<string | null, number>()
  for (const slot of slots) held.set(slot.account, (held.get(slot.account) ?? 0) + 1)
  const most = Math.max(...held.values())
  if (account === null || most <= (held.get(account) ?? 0) + 1) return undefined
  return slots.find((slot) => held.get(slot.account) === most)
}
