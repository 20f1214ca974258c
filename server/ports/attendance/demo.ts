import { scriptedAttendance } from './scripted.ts'

const event = (id: number, name: string) => ({ id, name, imageUrl: null })
const collection = (id: number, title: string, description: string, dropIds: number[]) => ({
  ...{ id, title, description, dropIds, logoImageUrl: null, bannerImageUrl: null, year: 2026 },
})

/** Three invented events; each visitor of the demo holds tokens of two. */
export const demoAttendance = () =>
  scriptedAttendance({
    events: [event(101, 'Lantern Night 2026'), event(102, 'Plaza Meetup 2026'), event(103, 'Founders Dinner 2026')],
    collections: [
      collection(11, 'Evenings at the Plaza', 'Every evening event of the year.', [101, 102]),
      collection(12, 'Founders only', 'For those who were there at the start.', [103]),
    ],
    everybody: [101, 102],
  })
