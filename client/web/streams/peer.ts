const gatherMilliseconds = 3_000
const lostMilliseconds = 3_000

/** The answer of a server that takes no such offer. */
export class OfferRefused extends Error {
  readonly status: number
  constructor(status: number) {
    super(`The offer was refused with ${status}`)
    this.status = status
  }
}

/** No connection for media came about in time. */
export class NoMediaPath extends Error {}

/** Waits until all ways to reach this machine are in the offer. */
export function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, gatherMilliseconds)
    const look = () => {
      if (peer.iceGatheringState !== 'complete') return
      clearTimeout(timer)
      resolve()
    }
    peer.addEventListener('icegatheringstatechange', look)
    look()
  })
}

/** WHIP and WHEP alike: the offer is posted, the answer returned, and `Location` ends the session by DELETE. */
export async function postOffer(url: string, peer: RTCPeerConnection, signal: AbortSignal) {
  const body = peer.localDescription?.sdp ?? ''
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/sdp' }, body, signal })
  if (!response.ok) throw new OfferRefused(response.status)
  const place = response.headers.get('Location')
  return { sdp: await response.text(), session: place === null ? null : new URL(place, response.url).href }
}

export function untilConnected(peer: RTCPeerConnection, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer)
      peer.removeEventListener('connectionstatechange', look)
      signal.removeEventListener('abort', abort)
      settle()
    }
    const look = () => {
      if (peer.connectionState === 'connected') end(resolve)
      if (peer.connectionState === 'failed') end(() => reject(new NoMediaPath()))
    }
    const abort = () => end(() => reject(signal.reason))
    const timer = setTimeout(() => end(() => reject(new NoMediaPath())), milliseconds)
    peer.addEventListener('connectionstatechange', look)
    signal.addEventListener('abort', abort)
    look()
  })
}

/** Resolves when the connection has failed, or is away for three seconds. */
export function untilLost(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      clearTimeout(timer)
      if (peer.connectionState === 'disconnected') timer = setTimeout(resolve, lostMilliseconds)
      if (peer.connectionState === 'failed' || peer.connectionState === 'closed') resolve()
    }
    peer.addEventListener('connectionstatechange', look)
    look()
  })
}
