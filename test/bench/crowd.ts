import { setTimeout as sleep } from 'node:timers/promises'
import type { Dialect } from './dialect.ts'
import { Wire } from './wire.ts'

interface Sent {
  at: number
  isAcknowledged: boolean
  /** The number of nodes of which all members have received it. */
  nodes: number
  isWithEverybody: boolean
}

/** Members of one node receive the same frames; those of another node may receive the same messages in other frames. */
interface Node {
  url: string
  members: number
  frames: Map<number, Frame>
  lastSeq: number | null
}

interface Frame {
  bytes: Buffer
  cids: readonly string[]
  seenBy: number
}

interface Member {
  socket: Wire
  node: Node
  place: number
  unanswered: Map<number, (refusal: string | null) => void>
}

const newline = '\n'.charCodeAt(0)
/** The first bytes of an answer, which suffice to identify it and its success. */
const answerBytes = 40

const begins = (bytes: Buffer, as: Buffer): boolean =>
  bytes.length >= as.length && bytes.compare(as, 0, as.length, 0, as.length) === 0

/** Milliseconds after people have joined until all their traffic has arrived. */
export const settleMilliseconds = 500

/** The members of one room, spread over the nodes. They check that they receive the same frames, in order, with every acknowledged message. */
export class Crowd {
  readonly #dialect: Dialect
  readonly #heard: Buffer
  readonly #acknowledged: Buffer
  readonly #ping: Buffer
  readonly #members: Member[] = []
  readonly #nodes: Node[]
  #sent = new Map<string, Sent>()
  #acks = 0
  #cids = 0
  sends = 0
  acknowledged = 0
  delivered = 0
  refused = 0
  faults: string[] = []
  ackMilliseconds: number[] = []
  lastMilliseconds: number[] = []

  constructor(urls: readonly string[], dialect: Dialect) {
    this.#nodes = urls.map((url) => ({ url, members: 0, frames: new Map(), lastSeq: null }))
    this.#dialect = dialect
    this.#heard = Buffer.from(dialect.heard)
    this.#acknowledged = Buffer.from(dialect.acknowledged)
    this.#ping = Buffer.from(dialect.ping)
  }

  get size(): number {
    return this.#members.length
  }

  async grow(tokens: readonly string[]): Promise<void> {
    await this.enter(tokens)
    await sleep(settleMilliseconds)
    this.begin()
  }

  async enter(tokens: readonly string[]): Promise<void> {
    const atOnce = 32
    const before = this.#members.length
    for (let from = 0; from < tokens.length; from += atOnce)
      await Promise.all(
        tokens.slice(from, from + atOnce).map((token, at) => this.#enter(token, this.#nodeOf(before + from + at))),
      )
  }

  close(): void {
    for (const { socket } of this.#members.splice(0)) socket.close()
  }

  #nodeOf(place: number): Node {
    const node = this.#nodes[place % this.#nodes.length]
    if (!node) throw new Error('There is no node')
    return node
  }

  /** Clears the counts. No message may be in transit. */
  begin(): void {
    for (const member of this.#members) member.place = 0
    this.#sent = new Map()
    for (const node of this.#nodes) Object.assign(node, { frames: new Map(), lastSeq: null })
    this.sends = this.acknowledged = this.delivered = this.refused = 0
    this.ackMilliseconds = []
    this.lastMilliseconds = []
  }

  async send(sender: number, text: string): Promise<void> {
    const member = this.#members[sender]
    if (!member) throw new Error('Nobody is there to send')
    const cid = `bench-${process.pid}-${++this.#cids}`
    this.sends++
    const sent: Sent = { at: performance.now(), isAcknowledged: false, nodes: 0, isWithEverybody: false }
    this.#sent.set(cid, sent)
    const refusal = await this.#ask(member, (ack) => this.#dialect.send(ack, cid, text))
    if (refusal !== null) {
      this.refused++
      this.faults.push(`a message was refused: ${refusal}`)
      return
    }
    sent.isAcknowledged = true
    this.acknowledged++
    this.ackMilliseconds.push(performance.now() - sent.at)
    if (sent.isWithEverybody) this.#sent.delete(cid)
  }

  /** Waits for messages in transit, then returns what is missing. */
  async settle(): Promise<void> {
    const until = performance.now() + 20_000
    const isUnsettled = () => this.#sent.size > this.refused || this.#nodes.some(({ frames }) => frames.size > 0)
    while (isUnsettled() && performance.now() < until) await sleep(20)
    const lost = [...this.#sent.values()].filter(({ isAcknowledged }) => isAcknowledged).length
    const unanswered = this.sends - this.acknowledged - this.refused
    if (unanswered > 0) this.faults.push(`${unanswered} messages were never answered`)
    if (lost > 0) this.faults.push(`${lost} acknowledged messages did not reach everybody`)
  }

  #ask(member: Member, frame: (ack: number) => string): Promise<string | null> {
    const ack = ++this.#acks
    member.socket.send(frame(ack))
    return new Promise((resolve) => member.unanswered.set(ack, resolve))
  }

  async #enter(token: string, node: Node): Promise<void> {
    const { path, asked, hello, hasLines, welcomed, refused, pong } = this.#dialect
    const member = await new Promise<Member>((resolve, reject) => {
      const take = (data: Buffer) => {
        if (data.equals(this.#ping)) socket.send(pong)
        else if (begins(data, this.#heard)) this.#hear(entering, data)
        else if (isIn && begins(data, this.#acknowledged)) this.#answer(entering, data)
        else enter(data.toString())
      }
      const enter = (text: string) => {
        const reply = isIn ? this.#dialect.reply?.(text) : undefined
        if (reply) socket.send(reply)
        else if (asked !== null && text.startsWith(asked)) socket.send(hello(token))
        else if (text.startsWith(refused)) reject(new Error(text))
        else if (text.startsWith(welcomed)) {
          isIn = true
          resolve(entering)
        }
      }
      let isIn = false
      const socket = new Wire(new URL(path, node.url), {
        opened() {
          if (asked === null) socket.send(hello(token))
        },
        message: hasLines ? (data) => eachLine(data, take) : take,
        closed: () => {
          if (this.#members.includes(entering)) this.faults.push('a connection was lost')
          else reject(new Error('A connection was closed'))
        },
      })
      const entering: Member = { socket, node, place: 0, unanswered: new Map() }
    })
    const refusal = await this.#ask(member, (ack) => this.#dialect.join(ack))
    if (refusal !== null) throw new Error(`The room lets nobody in: ${refusal}`)
    const more = this.#dialect.afterwards?.(token)
    if (more !== undefined) member.socket.send(more)
    node.members++
    this.#members.push(member)
  }

  #answer(member: Member, data: Buffer): void {
    const start = this.#acknowledged.length
    const { ack, isOk } = this.#dialect.answer(data.toString('latin1', start, start + answerBytes))
    member.unanswered.get(ack)?.(isOk ? null : (this.#dialect.code.exec(data.toString())?.[1] ?? 'no code'))
    member.unanswered.delete(ack)
  }

  /** The first receiver parses a frame; for the others it is enough that the bytes are the same. */
  #hear(member: Member, bytes: Buffer): void {
    const place = member.place++
    const { node } = member
    const known = node.frames.get(place)
    if (known && !known.bytes.equals(bytes)) this.faults.push('two members heard different frames')
    const frame = known ?? { bytes: Buffer.from(bytes), cids: this.#read(node, bytes), seenBy: 0 }
    if (!known) node.frames.set(place, frame)
    this.delivered += frame.cids.length
    frame.seenBy++
    if (frame.seenBy < node.members) return
    node.frames.delete(place)
    for (const cid of frame.cids) this.#reachedEverybody(cid)
  }

  #read(node: Node, bytes: Buffer): string[] {
    const events = this.#dialect.read(bytes.toString())
    for (const { seq } of events) {
      if (seq !== null && node.lastSeq !== null && seq !== node.lastSeq + 1)
        this.faults.push(`after ${node.lastSeq} came ${seq}`)
      node.lastSeq = seq
    }
    return events.flatMap(({ cid }) => cid ?? [])
  }

  #reachedEverybody(cid: string): void {
    const sent = this.#sent.get(cid)
    if (!sent || sent.isWithEverybody) return void this.faults.push('a message came twice, or from nowhere')
    if (++sent.nodes < this.#nodes.length) return
    sent.isWithEverybody = true
    this.lastMilliseconds.push(performance.now() - sent.at)
    if (sent.isAcknowledged) this.#sent.delete(cid)
  }
}

function eachLine(data: Buffer, take: (line: Buffer) => void): void {
  for (let start = 0; start < data.length; ) {
    const found = data.indexOf(newline, start)
    const end = found < 0 ? data.length : found
    if (end > start) take(data.subarray(start, end))
    start = end + 1
  }
}
