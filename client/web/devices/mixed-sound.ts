/** One track of sound, silent where nothing is mixed into it. */
export class MixedSound {
  readonly #context = new AudioContext()
  readonly #out = this.#context.createMediaStreamDestination()
  readonly #sources = new Map<MediaStreamTrack, AudioNode>()

  get track(): MediaStreamTrack | null {
    return this.#out.stream.getAudioTracks()[0] ?? null
  }

  /** Mixes these from now on, and no others. */
  mix(tracks: readonly MediaStreamTrack[]): void {
    for (const [track, source] of this.#sources) {
      if (tracks.includes(track)) continue
      source.disconnect()
      this.#sources.delete(track)
    }
    for (const track of tracks) {
      if (this.#sources.has(track)) continue
      const source = this.#context.createMediaStreamSource(new MediaStream([track]))
      source.connect(this.#out)
      this.#sources.set(track, source)
    }
  }

  close(): void {
    void this.#context.close()
  }
}
