import { setTimeout as pause } from 'node:timers/promises'
import type { Client as Sdk } from '#client/sdk/index'
import { AppError } from '#shared/errors'
import { wallet } from '#test/support/wallet'
import type { Meeting } from './attender.ts'
import type { Person } from './client.ts'
import { insist, sdkOf } from './insist.ts'
import type { Room } from './sender.ts'

/** Signs people in and creates their rooms, before any fault is injected. */
export class Setup {
  readonly owner: Person
  readonly #url: string
  #rooms = 0

  private constructor(url: string, owner: Person) {
    this.#url = url
    this.owner = owner
  }

  static async open(url: string): Promise<Setup> {
    return new Setup(url, await arrive(url, 'owner'))
  }

  people(name: string, count: number): Promise<Person[]> {
    return Promise.all(Array.from({ length: count }, (_, at) => arrive(this.#url, `${name} ${at}`)))
  }

  async room(members: readonly Person[], moderators: readonly Person[] = []): Promise<Room> {
    const { id, key } = await this.#channel({ name: `Room ${++this.#rooms}` })
    const room = { type: 'channel', id } as const
    await Promise.all([...members, ...moderators].map((who) => insist(() => join(this.#as(who), id))))
    const patch = { canPin: true, canDelete: true, canMute: true }
    for (const { account: target } of moderators)
      await insist((client_action_id) =>
        this.#as().moderation.act({ room, action: 'promote', target, patch, client_action_id }),
      )
    return { id, key }
  }

  /** An agent that its owner alone may ask, or that everybody may who pays. */
  async agent(owner: Person, isSold = false): Promise<string> {
    const sold = { visibility: 'public', x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' } as const
    const asked = { name: `Agent of ${owner.account}`, ...(isSold ? sold : {}) }
    const { agent } = await insist((idempotency_key) => this.#as(owner).agents.create({ ...asked, idempotency_key }))
    return agent.id
  }

  /** A group that only its owner may see. */
  async closed(): Promise<Room> {
    const asked = { name: 'Closed', memberAddresses: [] }
    const { group } = await insist((idempotency_key) => this.#as().rooms.createGroup({ ...asked, idempotency_key }))
    return { id: group.id ?? '', key: `group:${group.id}` }
  }

  /** A channel for those who hold a token of this event, as its founder does. */
  async meeting(event: number): Promise<Meeting> {
    const asked = { attendanceEventId: event, attendanceEventName: `Meeting ${event}` }
    return { ...(await this.#channel(asked)), event }
  }

  async #channel(asked: Partial<Parameters<Sdk['rooms']['createChannel']>[0]>): Promise<Room> {
    const { channel } = await insist((idempotency_key) => this.#as().rooms.createChannel({ ...asked, idempotency_key }))
    return { id: channel.id ?? '', key: `channel:${channel.id}` }
  }

  #as({ token }: Person = this.owner): Sdk {
    return sdkOf(this.#url, token)
  }
}

/** A try of unknown fate may have made them a member. */
async function join({ rooms }: Sdk, id: string): Promise<void> {
  await rooms.join({ room: { type: 'channel', id } }).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.message !== 'Already a member of this channel') throw error
  })
}

async function arrive(url: string, name: string): Promise<Person> {
  const who = wallet(`faults ${name}`)
  const { address } = who
  const { identity } = sdkOf(url)
  const { sessionToken } = await insist(async () => {
    const { message } = await identity.begin({ address })
    return identity.verify({ address, message, signature: await who.signMessage({ message }) })
  })
  return { account: address.toLowerCase(), token: sessionToken }
}

/** Polls until the condition holds or the time is up; returns whether it holds. */
export async function until(isSo: () => boolean | Promise<boolean>, milliseconds: number): Promise<boolean> {
  for (const end = Date.now() + milliseconds; Date.now() < end; await pause(50)) if (await isSo()) return true
  return false
}
