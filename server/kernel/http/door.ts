import type { Proxies } from '#server/kernel/addresses'
import type { Bound, Caller } from '#server/kernel/context'
import type { Kernel } from '#server/kernel/invoke'
import type { RequestMeter } from '#server/kernel/limits/request-meter'
import type { ConnectionSlots } from '#server/kernel/sockets/connection-slots'
import type { Headers } from './http-headers.ts'
import type { OriginRule } from './origins.ts'

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
