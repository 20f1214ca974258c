const beatMilliseconds = 1_000

interface Repeated {
  beats: number
  next: number
  work(): void
}

interface Beat {
  works: Set<Repeated>
  count: number
  timer: NodeJS.Timeout
}

/** A process has one; tests that replace its timers have another. */
const beats = new Map<typeof setInterval, Beat>()

/**
 * Repeats work until the returned function is called. All work of whole seconds shares one timer. An idle process
 * therefore wakes once a second.
 */
export function repeatWork(milliseconds: number, work: () => void): () => void {
  const every = milliseconds / beatMilliseconds
  if (!Number.isInteger(every)) {
    const own = setInterval(work, milliseconds).unref()
    return () => clearInterval(own)
  }
  const clock = setInterval
  const beat = beats.get(clock) ?? begin()
  beats.set(clock, beat)
  const one: Repeated = { beats: every, next: beat.count + every, work }
  beat.works.add(one)
  return () => {
    if (!beat.works.delete(one) || beat.works.size > 0) return
    clearInterval(beat.timer)
    beats.delete(clock)
  }
}

function begin(): Beat {
  const beat: Beat = { works: new Set(), count: 0, timer: setInterval(() => workOf(beat), beatMilliseconds).unref() }
  return beat
}

function workOf(beat: Beat): void {
  beat.count++
  for (const one of beat.works) {
    if (one.next > beat.count) continue
    one.next = beat.count + one.beats
    one.work()
  }
}
