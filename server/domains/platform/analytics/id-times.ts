/** The least id that is made at this moment or later: ids begin with the milliseconds of their time, so that they are a range of each collection. */
const idAt = (at: number): string => {
  const time = at.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

/** Ids that were made in a span of time, with what stands before them. */
export const idBetween = (from: number, until: number, prefix = '') => ({
  $gte: prefix + idAt(from),
  $lt: prefix + idAt(until),
})
