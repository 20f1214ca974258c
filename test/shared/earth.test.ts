import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cellOf, cellsAround, metresBetween, metresText, roundedPoint } from '#shared/kit/earth'

const point = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
})

describe('distances on earth', () => {
  test.each([
    [{ latitude: 52.5163, longitude: 13.3777 }, { latitude: 48.8584, longitude: 2.2945 }, 879_000],
    [{ latitude: 0, longitude: 179.99 }, { latitude: 0, longitude: -179.99 }, 2_224],
    [{ latitude: 90, longitude: 0 }, { latitude: 90, longitude: 120 }, 0],
    [{ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 180 }, 20_015_000],
  ])('from %o to %o it is %i m', (one, other, metres) => {
    expect(Math.abs(metresBetween(one, other) - metres)).toBeLessThan(Math.max(1, metres / 1_000))
    expect(metresBetween(one, other)).toBe(metresBetween(other, one))
  })

  test('what is near is in a cell around a point, of which there are few', () => {
    fc.assert(
      fc.property(point, point, fc.integer({ min: 1, max: 100_000 }), (middle, other, reach) => {
        const wide = Math.cos((middle.latitude * Math.PI) / 180)
        const longitude = middle.longitude + (other.longitude / 180) * Math.min(180, reach / 111_195 / wide)
        const near = {
          latitude: Math.max(-90, Math.min(90, middle.latitude + (other.latitude / 90) * (reach / 111_195))),
          longitude: longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude,
        }
        fc.pre(metresBetween(middle, near) <= reach)
        const cells = cellsAround(middle, reach)
        expect(cells).toContain(cellOf(near))
        expect(cells.length).toBeLessThan(150)
      }),
      { numRuns: 2_000 },
    )
    expect(cellOf({ latitude: 1, longitude: 180 })).toBe(cellOf({ latitude: 1, longitude: -180 }))
    expect(cellsAround({ latitude: 52.1, longitude: 13.1 }, 1_000)).toHaveLength(1)
  })

  test('a rounded point is within eight metres of the point', () => {
    fc.assert(fc.property(point, (one) => metresBetween(one, roundedPoint(one)) < 8))
    expect(Object.is(roundedPoint({ latitude: -0.000_01, longitude: 0 }).latitude, 0)).toBe(true)
  })

  test('a distance is told in words that never say less', () => {
    expect([0, 3, 150, 990, 991, 1_000, 2_510, 99_950, 100_001].map(metresText)).toEqual([
      ...['0 m', '10 m', '150 m', '990 m', '1 km', '1 km', '2.6 km', '100 km', '101 km'],
    ])
  })
})
