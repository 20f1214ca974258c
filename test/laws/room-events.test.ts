import { expect, test } from 'vitest'
import { recordOf } from '#server/domains/events'
import { globalEventTypes, roomEventTypes } from '#shared/api/room-events'
import { parse, type Source, sourcesOf } from './sources.ts'

const types = Object.keys({ ...roomEventTypes, ...globalEventTypes })

/** Where the type of an event may be spelled out. */
const spelled: readonly RegExp[] = [
  /^shared\/api\/room-events\.ts$/,
  /^server\/domains\/[^/]+\/events\//,
  // The actions that append what holds everywhere lie below the records.
  /^server\/domains\/accounts\/standing\.ts$/,
  // What a client makes of an event, and how its page words it.
  /^client\/sdk\/(timeline|view)\.ts$/,
  /^client\/web\/messages\/notice-text\.ts$/,
]

const strays = (sources: readonly Source[]) =>
  sources.flatMap(({ path, code }) =>
    spelled.some((place) => place.test(path))
      ? []
      : types.filter((type) => code.includes(`'${type}'`)).map((type) => `${path}: ${type}`),
  )

test('the type of an event is spelled in its declaration, its record and what appends it alone', () => {
  expect(strays(sourcesOf('server', 'client', 'shared'))).toEqual([])
  const planted = parse('server/domains/inbox/a.ts', "export const a = (type: string) => type === 'member.left'")
  expect(strays([planted])).toEqual(['server/domains/inbox/a.ts: member.left'])
})

test('every declared event has one record, of its own type', () => {
  expect(types.map((type) => recordOf(type)?.type)).toEqual(types)
  expect(recordOf('toString')).toBeNull()
})
