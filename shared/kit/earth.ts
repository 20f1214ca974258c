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

const cellDegrees = 0.5
const columns = 360 / cellDegrees
/** Beyond this latitude all longitudes share a cell. */
const polarDegrees = 80

function cellAt(row: number, column: number): string {
  const isPolar = Math.abs(row + 0.5) * cellDegrees > polarDegrees
  return isPolar ? `${row}` : `${row} ${((column % columns) + columns) % columns}`
}

const cellNumber = (degrees: number): number => Math.floor(degrees / cellDegrees)

/** The cell of a point in a grid of half degrees. */
export const cellOf = ({ latitude, longitude }: Point): string => cellAt(cellNumber(latitude), cellNumber(longitude))

/** All cells with points within a distance of at most 100 km; fewer than 150. */
export function cellsAround({ latitude, longitude }: Point, metres: number): string[] {
  const up = (metres / radiusMetres) * (180 / Math.PI)
  const [south, north] = [Math.max(-90, latitude - up), Math.min(90, latitude + up)]
  const along = up / Math.cos(radians(Math.min(polarDegrees + 2, Math.max(Math.abs(south), Math.abs(north)))))
  const cells = new Set<string>()
  for (let row = cellNumber(south); row <= cellNumber(north); row++)
    for (let column = cellNumber(longitude - along); column <= cellNumber(longitude + along); column++)
      cells.add(cellAt(row, column))
  return [...cells]
}

/** A distance in words, never less than it is: `120 m`, `3.4 km`, `560 km`. */
export function metresText(metres: number): string {
  if (metres <= 990) return `${Math.ceil(metres / 10) * 10} m`
  const kilometres = metres / 1_000
  return `${kilometres < 100 ? (Math.ceil(kilometres * 10) / 10).toFixed(1).replace('.0', '') : Math.ceil(kilometres)} km`
}
