import { MediaStreamTrack, type RTCRtpTransceiver, type RtpPacket } from 'werift'
import type { Kind } from './alignment.ts'
import type { Clock } from './clock.ts'
import { answerOffer, openPeer, type PeerSettings } from './peer.ts'
import type { ChosenOffer } from './sdp.ts'

/** What a browser publishes, as it comes. */
export interface Source {
  video: 'H264' | 'VP9' | null
  /** Returns what ends it. */
  subscribe(hear: (kind: Kind, packet: RtpPacket) => void): () => void
  askForKey(): void
}

/** Passes packets on as they are: nothing is decoded, and what was lost is sent again from what was sent. */
export async function answerWhep(
  { sdp }: ChosenOffer,
  source: Source,
  options: { peers: PeerSettings; clock: Clock },
  heard: { connected(): void; closed(): void },
): Promise<{ answer: string; close(): void }> {
  const tracks = { video: new MediaStreamTrack({ kind: 'video' }), audio: new MediaStreamTrack({ kind: 'audio' }) }
  const unsubscribe = source.subscribe((kind, packet) => {
    const copy = packet.clone()
    // They are numbered otherwise on each connection.
    copy.header.extensions = []
    tracks[kind].writeRtp(copy)
  })
  const peer = openPeer(options.peers, source.video ?? 'H264', options.clock, () => {
    unsubscribe()
    heard.closed()
  })
  peer.connection.connectionStateChange.subscribe((state) => {
    if (state !== 'connected') return
    heard.connected()
    source.askForKey()
  })

  async function prepare(transceivers: readonly RTCRtpTransceiver[]): Promise<void> {
    for (const transceiver of transceivers) {
      transceiver.setDirection('sendonly')
      await transceiver.sender.replaceTrack(transceiver.kind === 'audio' ? tracks.audio : tracks.video)
      transceiver.sender.onPictureLossIndication.subscribe(source.askForKey)
    }
  }

  try {
    return { answer: await answerOffer(peer.connection, sdp, prepare), close: peer.close }
  } catch (error) {
    peer.close()
    throw error
  }
}
