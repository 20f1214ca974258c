import type { Mutation } from '../mutation.ts'

const caughtIn = (file: string, title: string): Mutation['caughtBy'] => ({
  ...{ project: 'embedded', file: `test/server/${file}.test.ts`, title },
})

/** Reports of faults, contact, cards of rooms for everybody, and pages of lists. */
export const support: readonly Mutation[] = [
  {
    name: 'a report of a fault names files that were uploaded for something else',
    breaks: 'media of reports',
    file: 'server/domains/bug-reports/media.ts',
    find: 'if (!key?.startsWith(own)) throw refused()',
    put: 'if (!key) throw refused()',
    caughtBy: caughtIn('bug-reports', 'was uploaded for it'),
  },
  {
    name: 'the sweep takes what a report of a fault names',
    breaks: 'media of reports',
    file: 'server/domains/bug-reports/media.ts',
    find: 'return found.flatMap(({ media_keys }) => media_keys)',
    put: 'return found.flatMap(() => [])',
    caughtBy: caughtIn('bug-reports', 'stays until the report is closed'),
  },
  {
    name: 'several admins open an issue each for one report',
    breaks: 'issues',
    file: 'server/domains/bug-reports/linking.ts',
    find: '{ _id: id, ...free }',
    put: '{ _id: id }',
    caughtBy: caughtIn('issues', 'of many who ask at once'),
  },
  {
    name: 'whoever writes to the team has others written to without end',
    breaks: 'contact',
    file: 'server/domains/contact/index.ts',
    find: 'if (await maySendTo(context, to)) ',
    put: '',
    caughtBy: caughtIn('contact', 'whose sender is written to three times'),
  },
  {
    name: 'rooms that are not open to everybody have cards for everybody',
    breaks: 'public rooms',
    file: 'server/domains/room-state/access.ts',
    find: ' && !isUnlisted(view, room) && !isClosed(rulesIn(view))',
    put: '',
    caughtBy: caughtIn('public-rooms', 'there is no card'),
  },
  {
    name: 'a cursor asks for whatever its bearer wrote into it',
    breaks: 'N88',
    file: 'server/kernel/pages.ts',
    find: 'return fields.map(([, [kind]], at) => readAs(kind, written[at]))',
    put: 'return written as Value[]',
    caughtBy: caughtIn('pages', 'names no place of the order'),
  },
]
