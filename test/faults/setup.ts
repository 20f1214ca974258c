import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { call, signIn, wallet } from '#test/support/wallet'
import type { Meeting } from './attender.ts'
import type { Person } from './client.ts'
import type { Room } from './sender.ts'

const CreatedGroup = z.object({ group: z.object({ id: z.string() }) })
const mostTries = 20
const retryMilliseconds = 250
const CreatedAgent = z.object({ agent: z.object({ id: z.string() }) })
const CreatedChannel = z.object({ channel: z.object({ id: z.string() }) })

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
    const name = `Room ${++this.#rooms}`
    const { id } = CreatedChannel.parse(await this.#ask(this.owner, 'POST /api/channels', { name })).channel
    const room = { type: 'channel', id }
    await Promise.all([...members, ...moderators].map((who) => this.#ask(who, `POST /api/channels/${id}/join`, {})))
    for (const { account: target } of moderators)
      await this.#ask(this.owner, 'POST /api/moderation/act', {
        room,
        action: 'promote',
        target,
        patch: { canPin: true, canDelete: true, canMute: true },
      })
    return { id, key: `channel:${id}` }
  }

  /** An agent that its owner alone may ask, or that everybody may who pays. */
  async agent(owner: Person, isSold = false): Promise<string> {
    const sold = { visibility: 'public', x402Enabled: true, x402PriceCents: 5, x402Network: 'base-sepolia' }
    const asked = { name: `Agent of ${owner.account}`, ...(isSold ? sold : {}) }
    return CreatedAgent.parse(await this.#ask(owner, 'POST /api/agents', asked)).agent.id
  }

  /** A group that only its owner may see. */
  async closed(): Promise<Room> {
    const asked = await this.#ask(this.owner, 'POST /api/groups', { name: 'Closed', memberAddresses: [] })
    const { id } = CreatedGroup.parse(asked).group
    return { id, key: `group:${id}` }
  }

  /** A channel for those who hold a token of this event, as its founder does. */
  async meeting(event: number): Promise<Meeting> {
    const asked = { attendanceEventId: event, attendanceEventName: `Meeting ${event}` }
    const { id } = CreatedChannel.parse(await this.#ask(this.owner, 'POST /api/channels', asked)).channel
    return { id, key: `channel:${id}`, event }
  }

  async #ask(who: Person, route: string, input: object): Promise<unknown> {
    for (let tries = 0; ; tries++) {
      const { status, body } = await call(this.#url, route, input, who.token)
      if (status === 200 || (tries > 0 && isThere(body))) return body
      if (status !== 503 || tries === mostTries) throw new Error(`${route}: ${JSON.stringify(body)}`)
      await pause(retryMilliseconds)
    }
  }
}

/** A first try of unknown fate may have made somebody a member. */
const isThere = ({ error }: Record<string, unknown>) => error === 'Already a member of this channel'

async function arrive(url: string, name: string): Promise<Person> {
  for (let tries = 0; ; tries++) {
    try {
      const { address: account, sessionToken: token } = await signIn(url, wallet(`faults ${name}`))
      return { account, token }
    } catch (error) {
      if (tries === mostTries) throw error
      await pause(retryMilliseconds)
    }
  }
}

/** Polls until the condition holds or the time is up; returns whether it holds. */
export async function until(isSo: () => boolean | Promise<boolean>, milliseconds: number): Promise<boolean> {
  for (const end = Date.now() + milliseconds; Date.now() < end; await pause(50)) if (await isSo()) return true
  return false
}
