import { z } from 'zod'
import type { Change, Fact, Json } from '#server/log/types'

/** Fields with arbitrary names. */
export const jsonFields = z.record(z.string(), z.json()) as z.ZodType<{ [name: string]: Json }>

export const setFact = (key: string, value: unknown): Change => ({ key, value: value as Fact })

export const patchFact = <T>(key: string, next: (before: T) => T): Change => ({
  key,
  patch: (before) => (before === null ? null : (next(before as T) as Fact)),
})

export const patchList = <T>(key: string, next: (before: T[]) => T[]): Change => ({
  key,
  patch: (before) => next((before ?? []) as T[]) as Fact,
})
