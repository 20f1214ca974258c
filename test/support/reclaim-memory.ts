import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects garbage every few milliseconds until the answer is called. */
export function reclaimMemory(): () => void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const timer = setInterval(collect, 30)
  return () => clearInterval(timer)
}
