import { z } from 'zod'
import { Link } from '#shared/kit/primitives'

/** At least so much of a token (ERC-20, ERC-721), summed over the addresses of an account. */
const BalanceGate = z.object({
  by: z.literal('balance'),
  chain_id: z.number().int(),
  token_address: z.string(),
  token_name: z.string(),
  token_symbol: z.string(),
  /** 0 where its pieces cannot be divided. */
  token_decimals: z.number().int(),
  /** In the smallest unit. */
  min_balance: z.string(),
})

/** A token of attendance: of an event, or of any event of a collection. One of the two ids is there. */
const AttendanceGate = z.object({
  by: z.literal('attendance'),
  event_id: z.number().int().exactOptional(),
  collection_id: z.number().int().exactOptional(),
  name: z.string(),
  image_url: Link.nullable(),
})
export type AttendanceGate = z.infer<typeof AttendanceGate>

/** Near a place, by what people say of themselves: no position is proved, and none is asked of anybody else. */
const PlaceGate = z.object({
  by: z.literal('place'),
  /** One room for each. Of a map, or `geo:` and the degrees. */
  place_id: z.string(),
  place_name: z.string(),
  latitude: z.number(),
  longitude: z.number(),
  /** In metres. */
  radius_m: z.number().int(),
})
export type PlaceGate = z.infer<typeof PlaceGate>

/** A room's condition for new members. It is part of the room's record and never changes. */
export const Gate = z.discriminatedUnion('by', [BalanceGate, AttendanceGate, PlaceGate])
export type Gate = z.infer<typeof Gate>

/** One thing that was looked at to decide whether somebody passes a gate. */
export const GateCheck = z.object({
  /** The requirement in words. */
  requirement: z.string(),
  /** Whose: an address, or the account. */
  subject: z.string(),
  /** What was found, in words. */
  result: z.string(),
  /** The source of the check. */
  source: z.string(),
  /** The age of the answer; 0 where it was asked for now. */
  cached_age_s: z.number().int(),
})
export type GateCheck = z.infer<typeof GateCheck>

/** The result of a gate check; a refusal carries `checked` and `details`. */
export const GateAnswer = z.object({
  passed: z.boolean(),
  text: z.string(),
  checked: z.array(GateCheck),
  /** What gates of one sort say beside that. */
  details: z.record(z.string(), z.unknown()),
})
export type GateAnswer = z.infer<typeof GateAnswer>

/** A gate is asked of a source outside, which may not answer. */
export const unasked = ['UPSTREAM_ERROR', 'TIMEOUT'] as const
export const gated = ['GATE_NOT_PASSED', ...unasked] as const
