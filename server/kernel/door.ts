import type { Proxies } from './addresses.ts'
import type { ConnectionSlots } from './connection-slots.ts'
import type { Bound, Caller } from './context.ts'
import type { Kernel } from './invoke.ts'
import type { OriginRule } from './origins.ts'

/** What both doors stand on. */
export interface Door {
  kernel: Kernel
  bound: readonly Bound[]
  origins: OriginRule
  proxies: Proxies
  slots: ConnectionSlots
  identify(credential: string | null, seen: { ip: string; userAgent: string }): Promise<Caller>
}
