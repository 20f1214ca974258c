import { expect, test } from 'vitest'
import { lengthInBytes } from '#client/web/kit/byte-length'

test('a length below a kilobyte is shown in bytes', () => {
  expect([0, 1, 17, 1_023].map(lengthInBytes)).toEqual(['0 bytes', '1 byte', '17 bytes', '1023 bytes'])
  expect([1_024, 1_600, 1_048_575].map(lengthInBytes)).toEqual(['1 kB', '2 kB', '1024 kB'])
  expect([1_048_576, 6_186_598, 12_582_912].map(lengthInBytes)).toEqual(['1 MB', '5.9 MB', '12 MB'])
})
