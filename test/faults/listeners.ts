import type { Socket } from 'socket.io-client'
import { Client, type Person } from './client.ts'
import type { Place, Room } from './sender.ts'
import { until } from './setup.ts'

/** Many connections that only listen, with a few accounts. */
export class Listeners {
  readonly #clients: readonly Client[]
  readonly #room: Room
  readonly #in = new Set<Client>()

  constructor(people: readonly Person[], size: number, { doors }: Place, room: Room) {
    this.#room = room
    this.#clients = Array.from({ length: size }, (_, at) => {
      const person = people[at % people.length]
      if (!person) throw new Error('Listeners need an account')
      const client: Client = new Client(person, doors, at, (socket) => this.#follow(client, socket))
      return client
    })
  }

  async connectAll(milliseconds: number): Promise<boolean> {
    for (const client of this.#clients) void client.connected()
    return this.areAllBack(milliseconds)
  }

  get isWhole(): boolean {
    return this.#in.size === this.#clients.length
  }

  areAllBack(milliseconds: number): Promise<boolean> {
    return until(() => this.isWhole, milliseconds)
  }

  closeAll(): void {
    for (const client of this.#clients) client.close()
  }

  #follow(client: Client, socket: Socket): void {
    socket.on('disconnect', () => {
      this.#in.delete(client)
      if (client.socket === socket) client.lose(socket)
      void client.connected()
    })
    void this.#join(client, socket)
  }

  async #join(client: Client, socket: Socket): Promise<void> {
    while (socket.connected) {
      const answer = await client.ask('room:join', { room: { type: 'channel', id: this.#room.id } })
      if (answer.ok && client.socket === socket) return void this.#in.add(client)
    }
  }
}
