import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Percentiles, percentiles } from './load.ts'

/** The time in milliseconds of a 4 kB write with fdatasync, one after the other. */
export function measureDisk(directory: string, seconds: number): Percentiles {
  const file = openSync(join(directory, 'disk'), 'w')
  const page = Buffer.alloc(4_096, 1)
  const taken: number[] = []
  const end = performance.now() + seconds * 1_000
  for (let began = performance.now(); began < end; began = performance.now()) {
    writeSync(file, page)
    fdatasyncSync(file)
    taken.push(performance.now() - began)
  }
  closeSync(file)
  return percentiles(taken)
}
