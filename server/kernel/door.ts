import type { Proxies } from './addresses.ts'
import type { ConnectionSlots } from './connection-slots.ts'
import type { Bound, Caller } from './context.ts'
import type { Headers } from './http-headers.ts'
import type { Kernel } from './invoke.ts'
import type { OriginRule } from './origins.ts'
import type { RequestMeter } from './request-meter.ts'

/** The dependencies of both doors. */
export interface Door {
  kernel: Kernel
  bound: readonly Bound[]
  origins: OriginRule
  proxies: Proxies
  slots: ConnectionSlots
  meter: RequestMeter
  headersOfRefusals: Headers
  identify(credential: string | null, seen: { ip: string; userAgent: string }): Promise<Caller>
}
