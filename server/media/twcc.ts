import { unwrapper } from './rtp.ts'

const tickMicros = 250
const referenceMicros = 64_000
const most = { small: 255, large: 32_767, run: 8_191, packets: 1_000, waiting: 100 }
const symbols = { missing: 0, small: 1, large: 2 }
const kind = { format: 15, type: 205 }

interface Arrival {
  sequence: number
  micros: number
}

/**
 * Feedback for the bandwidth estimate of browsers (draft-holmer-rmcat-transport-wide-cc-extensions-01). It has the arrival
 * of each packet of all tracks, and the losses.
 */
export function twccFeedback(
  arrivals: readonly Arrival[],
  base: number,
  count: number,
  ssrc: { sender: number; media: number },
): Buffer {
  const last = arrivals.at(-1)
  const [first] = arrivals
  if (!first || !last) throw new RangeError('Nothing has arrived')
  const reference = Math.floor(first.micros / referenceMicros)
  let clock = reference * referenceMicros
  const deltas: Buffer[] = []
  const runs: { symbol: number; length: number }[] = []
  const add = (symbol: number, length: number): void => {
    const run = runs.at(-1)
    if (run?.symbol === symbol) run.length += length
    else if (length > 0) runs.push({ symbol, length })
  }
  let next = base
  for (const { sequence, micros } of arrivals) {
    add(symbols.missing, sequence - next)
    next = sequence + 1
    const ticks = Math.max(-most.large, Math.min(most.large, Math.round((micros - clock) / tickMicros)))
    clock += ticks * tickMicros
    const isSmall = ticks >= 0 && ticks <= most.small
    add(isSmall ? symbols.small : symbols.large, 1)
    const delta = Buffer.alloc(isSmall ? 1 : 2)
    if (isSmall) delta.writeUInt8(ticks)
    else delta.writeInt16BE(ticks)
    deltas.push(delta)
  }
  const chunks = runs.flatMap(({ symbol, length }) =>
    Array.from({ length: Math.ceil(length / most.run) }, (_, index) => {
      const chunk = Buffer.alloc(2)
      chunk.writeUInt16BE((symbol << 13) | Math.min(most.run, length - index * most.run))
      return chunk
    }),
  )
  return packed(base, last.sequence - base + 1, reference, count, ssrc, Buffer.concat([...chunks, ...deltas]))
}

function packed(
  base: number,
  statuses: number,
  reference: number,
  count: number,
  ssrc: { sender: number; media: number },
  body: Buffer,
): Buffer {
  const padding = (4 - (body.length % 4)) % 4
  const head = Buffer.alloc(20)
  head.writeUInt8(0x80 | (padding > 0 ? 0x20 : 0) | kind.format, 0)
  head.writeUInt8(kind.type, 1)
  head.writeUInt16BE((head.length + body.length + padding) / 4 - 1, 2)
  head.writeUInt32BE(ssrc.sender, 4)
  head.writeUInt32BE(ssrc.media, 8)
  head.writeUInt16BE(base & 0xffff, 12)
  head.writeUInt16BE(statuses, 14)
  head.writeUIntBE(reference & 0xffffff, 16, 3)
  head.writeUInt8(count & 0xff, 19)
  const rest = Buffer.alloc(padding)
  if (padding > 0) rest.writeUInt8(padding, padding - 1)
  return Buffer.concat([head, body, rest])
}

/** Collects arrivals of one connection; `flush` is called now and then. */
export function twccCollector(
  micros: () => number,
  send: (feedback: (ssrc: { sender: number; media: number }) => Buffer) => void,
) {
  const unwrap = unwrapper(2 ** 16)
  let arrivals = new Map<number, number>()
  let base: number | null = null
  let count = 0

  function flush(): void {
    const sorted = [...arrivals]
      .map(([sequence, at]) => ({ sequence, micros: at }))
      .sort((a, b) => a.sequence - b.sequence)
    arrivals = new Map()
    const [first, last] = [sorted[0], sorted.at(-1)]
    if (!first || !last) return
    // After a long silence earlier losses are not reported.
    const from = base === null || last.sequence - base >= most.packets ? first.sequence : base
    base = last.sequence + 1
    const told = count++
    const kept = sorted.filter(({ sequence }) => sequence - from < most.packets)
    send((ssrc) => twccFeedback(kept, from, told, ssrc))
  }

  return {
    flush,
    /** A packet that was reported missing stays so. */
    handleTWCC(sequence: number | undefined): void {
      if (sequence === undefined) return
      const place = unwrap(sequence)
      if (base !== null && place < base) return
      arrivals.set(place, micros())
      if (arrivals.size >= most.waiting) flush()
    },
  }
}
