import type { Point } from '#shared/kit/earth'

const waitMilliseconds = 20_000

/** Asks the browser where it is, to so many decimal places of degrees: three are about 100 metres, four about ten. */
export function whereIAm(decimals: 3 | 4): Promise<Point> {
  const isExact = decimals === 4
  const rounded = (degrees: number): number => Math.round(degrees * 10 ** decimals) / 10 ** decimals
  return new Promise((resolve, reject) => {
    if (!('geolocation' in navigator)) return reject(new Error('This browser cannot tell where you are.'))
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude } }) => resolve({ latitude: rounded(latitude), longitude: rounded(longitude) }),
      ({ code }) => reject(new Error(faults[code] ?? 'Your position could not be found.')),
      { maximumAge: isExact ? 0 : 60_000, timeout: waitMilliseconds, enableHighAccuracy: isExact },
    )
  })
}

/** By the codes of `GeolocationPositionError`. */
const faults: Readonly<Record<number, string>> = {
  1: 'Your browser was not allowed to tell where you are.',
  2: 'Your position could not be found.',
  3: 'Finding your position took too long.',
}
