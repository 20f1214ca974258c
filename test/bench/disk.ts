import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Percentiles, percentiles } from './load.ts'

/** What the disk alone takes to keep 4 kB, a write and its fdatasync after another, in milliseconds. */
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
