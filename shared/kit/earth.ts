/** A point of the earth, in degrees. */
export interface Point {
  latitude: number
  longitude: number
}

const radiusMetres = 6_371_008.8
const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** In metres, along a great circle. */
export function metresBetween(one: Point, other: Point): number {
  const [north, south] = [radians(one.latitude), radians(other.latitude)]
  const [up, along] = [north - south, radians(one.longitude - other.longitude)]
  const chord = Math.sin(up / 2) ** 2 + Math.cos(north) * Math.cos(south) * Math.sin(along / 2) ** 2
  return 2 * radiusMetres * Math.asin(Math.min(1, Math.sqrt(chord)))
}

const steps = 10_000
/** To four decimal places, which is about eleven metres. Not more is kept of where somebody says they are. */
const rounded = (degrees: number): number => Math.round(degrees * steps) / steps + 0
export const roundedPoint = ({ latitude, longitude }: Point): Point => ({
  latitude: rounded(latitude),
  longitude: rounded(longitude),
})

/** The box in degrees with everything within a distance of a point; null if its longitude is any. */
export function boxAround({ latitude, longitude }: Point, metres: number) {
  const up = (metres / radiusMetres) * (180 / Math.PI)
  const [south, north] = [latitude - up, latitude + up]
  const along = up / Math.cos(radians(Math.min(89.9, Math.max(Math.abs(south), Math.abs(north)))))
  const [west, east] = [longitude - along, longitude + along]
  const isWhole = south <= -89.9 || north >= 89.9 || west < -180 || east > 180
  return { south, north, across: isWhole ? null : { west, east } }
}

/** A distance in words, never less than it is: `120 m`, `3.4 km`, `560 km`. */
export function metresText(metres: number): string {
  if (metres <= 990) return `${Math.ceil(metres / 10) * 10} m`
  const kilometres = metres / 1_000
  return `${kilometres < 100 ? (Math.ceil(kilometres * 10) / 10).toFixed(1).replace('.0', '') : Math.ceil(kilometres)} km`
}
