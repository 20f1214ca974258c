import { type RTCRtpReceiver, RtcpPacketConverter, type RtpPacket } from 'werift'

const most = { bytes: 1_500, packets: 32, statuses: 2_000, missing: 1_000 }
const feedback = { type: 205, ofArrivals: 15 }
const readAll = RtcpPacketConverter.deSerialize

/** Reports that are built to cost work are not read. Browsers' reports have few packets and fit a datagram. */
RtcpPacketConverter.deSerialize = (data) => (isBearable(data) ? readAll(data) : [])

function isBearable(data: Buffer): boolean {
  if (data.length > most.bytes) return false
  let packets = 0
  for (let at = 0; at + 4 <= data.length; at += 4 + 4 * data.readUInt16BE(at + 2)) {
    if (++packets > most.packets) return false
    const isOfArrivals = data.readUInt8(at + 1) === feedback.type && (data.readUInt8(at) & 31) === feedback.ofArrivals
    if (isOfArrivals && at + 16 <= data.length && data.readUInt16BE(at + 14) > most.statuses) return false
  }
  return true
}

/** What asks for lost packets again, as far as it is known here. */
interface Missing {
  newEstSeqNum: number
  getLost(sequence: number): number | undefined
  addPacket(packet: RtpPacket): void
}

/** After a far jump nothing is requested again, as nobody has it any more. Late packets and wraps are no jumps. */
export function limitMissing(receiver: RTCRtpReceiver): void {
  const { nack } = receiver as unknown as { nack: Missing }
  const add = nack.addPacket.bind(nack)
  nack.addPacket = (packet) => {
    const { sequenceNumber } = packet.header
    const ahead = (sequenceNumber - nack.newEstSeqNum) & 0xffff
    const isFirst = nack.newEstSeqNum === 0
    const isLate = !isFirst && ahead >= 0x8000
    if (isLate ? nack.getLost(sequenceNumber) : isFirst || ahead <= most.missing) add(packet)
    // It goes on from there, also where numbers wrap.
    if (!isLate) nack.newEstSeqNum = sequenceNumber
  }
}
