/** Marks a test of 0.4 s or more, which `npm test` leaves to `npm run test:all` while nothing that it depends on has changed. */
export const heavy = { tags: ['heavy'] }
