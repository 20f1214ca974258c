export interface NewStream {
  /** What a list of the provider calls it. */
  name: string
  /** Whether each time that it is published is kept as a recording. */
  record: boolean
}

export interface CreatedStream {
  streamId: string
  /** Secret: its holder publishes. It is returned once. */
  streamKey: string
  playbackId: string
}

/** `interrupted`: the publisher may come back within the grace. */
export interface StreamStatus {
  state: 'idle' | 'live' | 'interrupted'
  lastSeen: Date | null
  /** The incoming bits per second, and the unusable pictures since publication, if the provider has them. */
  bitrate?: number
  dropped?: number
}

export type AssetPhase = 'waiting' | 'processing' | 'ready' | 'failed'

/** The recording of one time that a stream was published. */
export interface VideoAsset {
  assetId: string
  streamId: string
  phase: AssetPhase
  /** From 0 to 1. */
  progress: number
  /** When its first picture was shown, to align it with the chat. */
  startedAt: Date
  durationSeconds: number | null
  sizeBytes: number | null
  error: string | null
  /** Where it is played and downloaded: once it is ready, or has failed and some of it is there. */
  playbackId: string | null
  playbackUrl: string | null
  downloadUrl: string | null
}

/** Where a stream is published, which is as secret as its key, and where it is shown. */
export interface VideoAddresses {
  whip(streamKey: string): string
  rtmp(streamKey: string): string
  hls(playbackId: string): string
  /** Null where it shows nothing over WebRTC. */
  whep(playbackId: string): string | null
}

/** `started`: a picture arrived. `interrupted`: the connection was lost, or silent for 10 seconds. `stopped`: the end. `status` prevails. */
export type VideoEvent =
  | { type: 'ingest.started' | 'ingest.interrupted' | 'ingest.stopped'; streamId: string }
  | { type: 'asset.updated'; asset: VideoAsset }

/** A request for media; its path is with the query. */
export interface MediaRequest {
  method: string
  path: string
}

/** The header that identifies a client without its address; never accepted from outside. */
export const clientHeader = 'x-media-client'

/** The header of a refusal for an existing stream without a publisher. */
export const notLive = { 'x-media-refused': 'not live' }

/** Where a request for media is passed on to, and what it is given along. */
export interface MediaOrigin {
  host: string
  port: number
  headers: Readonly<Record<string, string>>
}

/** What a request for media is answered with. */
export interface MediaAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** A node that has an engine: its ids begin with the host's, and the others ask it at `url`. */
export interface MediaHost {
  id: string
  url: string
  /** Whether other machines reach it there; else the processes that share its directory alone. */
  isNamed: boolean
  rtmpUrl: string
  /** Whether it knows what is signed with its body; nodes of the version before do not. */
  signsBodies: boolean
}

/** A stream as all nodes know it, with a digest of its key, so that another host may continue it. */
export interface HeldStream {
  streamId: string
  playbackId: string
  digest: string
  record: boolean
  host: string
  /** Whether it may be published. */
  isOpen: boolean
}

/** Where hosts find each other, and what streams they have. */
export interface MediaHosts {
  tell(host: MediaHost): Promise<void>
  /** Hosts with a recent heartbeat. */
  live(): Promise<MediaHost[]>
  forget(host: MediaHost): Promise<void>
  keep(stream: HeldStream): Promise<void>
  /** Those that are at another host than they were made at, until a while after they have ended. */
  moved(): Promise<HeldStream[]>
  /** The open stream of an id, of a playback, or of the digest of a key. */
  find(name: string, digest: string): Promise<HeldStream | null>
  /** Does nothing where it is open no more, or somewhere else already. */
  move(streamId: string, from: string, to: string): Promise<void>
  /** Nobody goes on with it. */
  end(streamId: string): Promise<void>
}

/**
 * Takes livestreams, shows them, and records them. Throws SERVICE_UNAVAILABLE while it cannot, and UPSTREAM_ERROR where a provider
 * refuses a new one.
 */
export interface Video {
  readonly addresses: VideoAddresses
  createStream(stream: NewStream): Promise<CreatedStream>
  /** Of those it knows. */
  status(streamIds: readonly string[]): Promise<Map<string, StreamStatus>>
  /** Ends a stream and refuses its publishers. With `isShown` false its end is hidden too, if the provider can. */
  endStream(streamId: string, isShown?: boolean): Promise<void>
  /** With its recordings. */
  deleteStream(streamId: string): Promise<void>
  assets(streamId: string): Promise<VideoAsset[]>
  /** The origin, or the shared answer, of a media name; null while it is away. Throws NOT_FOUND. Absent if media are elsewhere. */
  originOf?(id: string, asked: MediaRequest): Promise<MediaOrigin | MediaAnswer | null>
  /** Why this node cannot go live, in a sentence; null if it can. */
  lacks?(): string | null
  /** Publishes a generated clock, unless somebody publishes. Absent if unsupported. */
  publishClock?(streamId: string): Promise<void>
  /** Other sites that a page publishes to, watches and plays recordings from. Left out where there are none. */
  readonly origins?: readonly string[]
  /** For providers that ask us before publishing: checks whether a stream is open. */
  admit?(isOpen: (streamId: string) => Promise<boolean>): void
  /** Returns what ends it. */
  subscribe(hear: (event: VideoEvent) => void): () => void
  /** For a provider that calls us, with the body as it came. Throws UNAUTHORIZED where the call is not the provider's. */
  webhook?(body: Buffer, headers: Readonly<Record<string, string | string[] | undefined>>): Promise<void>
}
