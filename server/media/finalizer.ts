import { Conversion, FilePathSource, FilePathTarget, Input, MP4, Mp4OutputFormat, Output } from 'mediabunny'
import type { Finalized, FinalizeTask } from './finalize.ts'

const tell = (told: Finalized) => process.send?.(told)

process.on('disconnect', () => process.exit())
process.on('message', (task: FinalizeTask) => {
  finalizeFile(task).then(
    (durationSeconds) => tell({ durationSeconds }),
    (error: unknown) => tell({ error: error instanceof Error ? error.message : String(error) }),
  )
})

/** A copy of all packets up to where the file breaks off. */
async function finalizeFile({ from, to }: FinalizeTask): Promise<number> {
  const input = new Input({ source: new FilePathSource(from), formats: [MP4] })
  try {
    const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target: new FilePathTarget(to) })
    const conversion = await Conversion.init({ input, output })
    if (conversion.utilizedTracks.length === 0) throw new Error('Nothing in it can be played')
    conversion.onProgress = (progress) => tell({ progress })
    await conversion.execute()
  } finally {
    input.dispose()
  }
  const made = new Input({ source: new FilePathSource(to), formats: [MP4] })
  try {
    return await made.computeDuration()
  } finally {
    made.dispose()
  }
}
