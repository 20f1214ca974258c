/** Marks a test of 0.4 s or more. `npm test` leaves it to `npm run test:all` until something that it depends on changes. */
export const heavy = { tags: ['heavy'] }
