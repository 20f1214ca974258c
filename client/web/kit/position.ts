import type { Point } from '#shared/kit/earth'
import { controlTexts as t } from '../texts/controls.ts'

const waitMilliseconds = 20_000

/** Asks the browser where it is, to so many decimal places of degrees: three are about 100 metres, four about ten. */
export function whereIAm(decimals: 3 | 4): Promise<Point> {
  const isExact = decimals === 4
  const rounded = (degrees: number): number => Math.round(degrees * 10 ** decimals) / 10 ** decimals
  return new Promise((resolve, reject) => {
    if (!('geolocation' in navigator)) return reject(new Error(t.position.unsupported))
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude } }) => resolve({ latitude: rounded(latitude), longitude: rounded(longitude) }),
      ({ code }) => reject(new Error(faults[code] ?? t.position.unknown)),
      { maximumAge: isExact ? 0 : 60_000, timeout: waitMilliseconds, enableHighAccuracy: isExact },
    )
  })
}

/** By the codes of `GeolocationPositionError`. */
const faults: Readonly<Record<number, string>> = {
  1: t.position.refused,
  2: t.position.unknown,
  3: t.position.slow,
}
