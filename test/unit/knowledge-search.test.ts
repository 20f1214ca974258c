import { describe, expect, test } from 'vitest'
import { forgetOldestIndexes } from '#server/domains/agents/library/retrieve'
import { exactIndex, termsOf, vectorBytes } from '#server/domains/agents/library/search/exact'
import { localEmbedder } from '#server/ports/model/local-embedder'

const places = [
  ['museum', 'swords, coins and paintings of the old kings'],
  ['swimming pool', 'two slides and a sauna below the roof'],
  ['library', 'novels, atlases and recordings to borrow'],
  ['castle', 'towers, a drawbridge and a well in its yard'],
  ['zoo', 'penguins, giraffes and a house of reptiles'],
  ['theatre', 'plays, puppets and a stage that turns'],
  ['cathedral', 'an organ, stained windows and a crypt'],
  ['harbour', 'ferries, fishing boats and a lighthouse'],
  ['observatory', 'telescopes, a dome and maps of the stars'],
  ['brewery', 'kettles, barrels and a cellar for the beer'],
  ['stadium', 'football, concerts and a running track'],
  ['aquarium', 'sharks, corals and a tunnel of glass'],
  ['bakery', 'ovens, bread and a school for bakers'],
  ['railway station', 'trains, timetables and a hall of iron'],
  ['botanical garden', 'orchids, ponds and a greenhouse of palms'],
  ['planetarium', 'shows of comets under a dark roof'],
  ['ice rink', 'skates, hockey and lessons for beginners'],
  ['vineyard', 'grapes, presses and tastings of the wine'],
  ['cinema', 'films in seven halls and a bar for popcorn'],
  ['hospital', 'wards, doctors and an emergency entrance'],
] as const
const aspects: readonly ((place: string) => string)[] = [
  (place) =>
    `Opening hours. The ${place} opens at nine in the morning and closes at six; on Mondays it stays closed for cleaning.`,
  (place) =>
    `Tickets. A ticket for the ${place} costs twelve coins, and half of that for students and pensioners. Cards are accepted.`,
  (place) =>
    `Parking. Cars are parked behind the ${place} for three coins an hour; bicycles stand in front of its gate.`,
  (place) =>
    `Animals. Dogs may enter the ${place} on a short leash; other pets wait with the porter, who gives them water.`,
  (place) =>
    `Wheelchairs. A lift and a ramp lead into the ${place}, and wheelchairs are lent without a deposit at the entrance.`,
  (place) =>
    `Lost property. What was lost in the ${place} is kept for a month in the office on the second floor, then sold.`,
  (place) =>
    `Food. The kitchen of the ${place} serves soup and cake until four; visitors may eat what they bring on the terrace.`,
  (place) =>
    `Photographs. Taking photographs in the ${place} is permitted without flash; tripods need a permission of the director.`,
  (place) =>
    `Children. Families with children get crayons in the ${place}, and a room for changing nappies is beside the stairs.`,
  (place) =>
    `Guides. Guided tours of the ${place} begin each hour in four languages; groups reserve a guide a week ahead.`,
]
const chunks = places.flatMap(([place, things]) => aspects.map((text) => `${text(place)} There are ${things}.`))

/** A question in other words, the number of its place and of its aspect. */
const questions: readonly (readonly [question: string, place: number, aspect: number])[] = [
  ['When is the museum open?', 0, 0],
  ['What do students pay for a ticket to swim in the pool?', 1, 1],
  ['Where do I park my car if I visit the library?', 2, 2],
  ['Can my dog come along into the castle on a leash?', 3, 3],
  ['Is there a ramp for a wheelchair at the zoo?', 4, 4],
  ['I lost my umbrella in the theatre, who keeps lost things?', 5, 5],
  ['Could we eat our own food at the cathedral terrace?', 6, 6],
  ['Are photographers permitted to use a tripod at the harbour?', 7, 7],
  ['Does the observatory have something for a child and its family?', 8, 8],
  ['How do groups reserve guided tours of the brewery?', 9, 9],
  ['Which day is the stadium closed for cleaning?', 10, 0],
  ['How many coins do pensioners pay for tickets of the aquarium?', 11, 1],
  ['bicycle parking bakery', 12, 2],
  ['pets at the railway station: who gives them water?', 13, 3],
  ['Do they lend wheelchairs in the botanical gardens?', 14, 4],
  ['How long does the planetarium keep lost property before selling it?', 15, 5],
  ['Until when is soup served in the kitchen of the ice rink?', 16, 6],
  ['May I photograph with flash inside the vineyards?', 17, 7],
  ['Where can nappies be changed in the cinema?', 18, 8],
  ['languages of the guides in the hospital', 19, 9],
]

const embedder = localEmbedder()
const signal = new AbortController().signal
async function indexOf(texts: readonly string[], by = embedder.name) {
  const vectors = await embedder.embed(texts, signal)
  const stored = texts.map((text, n) => ({
    ...{ _id: `${n}`, knowledge_id: 'k', n, url: 'https://site.test/', title: '', text },
    ...{ vector: vectorBytes(vectors[n] ?? new Float32Array()), embedder: by },
  }))
  return exactIndex(stored, embedder)
}
async function ask(index: Awaited<ReturnType<typeof indexOf>>, text: string, most = 8) {
  const [vector = new Float32Array()] = await embedder.embed([text], signal)
  return index.find({ text, vector }, most)
}

describe('the search in what an agent knows', () => {
  test('puts the right chunk of 200 first for at least 18 of 20 questions in other words', async () => {
    expect([chunks.length, questions.length]).toEqual([200, 20])
    const index = await indexOf(chunks)
    const missed: string[] = []
    for (const [question, place, aspect] of questions) {
      const [first] = await ask(index, question)
      if (first?.n !== place * aspects.length + aspect) missed.push(`${question} -> ${first?.text}`)
    }
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(2)
  })

  test('finds nothing where nothing fits, and the most that are asked for where all fit', async () => {
    const index = await indexOf(chunks)
    expect(await ask(index, 'quantum chromodynamics perturbation')).toEqual([])
    expect(await ask(index, '???')).toEqual([])
    expect(await ask(index, 'the museum and its kings')).toHaveLength(8)
  })

  test('finds chunks of another embedder by their words alone', async () => {
    const [first] = await ask(await indexOf(chunks, 'another'), 'When does the museum open in the morning?')
    expect(first?.text).toMatch(/^Opening hours. The museum/)
  })

  test('compares no vector of another embedder, or of another length', async () => {
    const texts = chunks.slice(0, 20)
    const vectors = await embedder.embed(texts, signal)
    const [vector = new Float32Array()] = await embedder.embed(['quantum chromodynamics'], signal)
    const askOf = async (by: string, bytes: (n: number) => Uint8Array) => {
      const stored = texts.map((text, n) => ({
        ...{ _id: `${n}`, knowledge_id: 'k', n, url: 'https://site.test/', title: '', text },
        ...{ vector: Buffer.from(bytes(n)), embedder: by },
      }))
      return (await exactIndex(stored, embedder)).find({ text: 'quantum chromodynamics', vector }, 8)
    }
    expect(await askOf(embedder.name, () => vectorBytes(vector))).toHaveLength(8)
    expect(await askOf('another', () => vectorBytes(vector))).toEqual([])
    const long = (n: number) => vectorBytes(vectors[n] ?? new Float32Array())
    for (const length of [3, 4, embedder.dimensions * 4 - 4, embedder.dimensions * 8])
      expect(await askOf(embedder.name, (n) => Buffer.concat([long(n), long(n)]).subarray(0, length))).toEqual([])
  })

  test('puts words that are rare before those that stand everywhere', async () => {
    const index = await indexOf([...chunks, 'The password of the cellar is marzipan.'])
    const [first] = await ask(index, 'Tickets, parking, dogs, soup, guides and marzipan?')
    expect(first?.text).toContain('marzipan')
  })

  test('finds a text in a script without spaces', async () => {
    const index = await indexOf(['月の引力が海の水を動かす。', '図書館は九時に開きます。'])
    expect((await ask(index, '図書館はいつ開きますか'))[0]?.n).toBe(1)
  })

  test.each([
    ['opening opened opens', 'open open open'],
    ['The studies of students', 'stud student'],
    ['', ''],
  ])('%s is searched as %s', (text, terms) => expect(termsOf(text).join(' ')).toBe(terms))
})

describe('the indexes that are kept', () => {
  test.each([
    [30, ['a', 'b', 'c']],
    [29, ['b', 'c']],
    [10, ['c']],
    [1, ['c']],
  ])('are, of %i bytes, those that were asked last: %j', (most, left) => {
    const kept = new Map(['a', 'b', 'c'].map((agent) => [agent, { bytes: 10 }]))
    forgetOldestIndexes(kept, 'c', most)
    expect([...kept.keys()]).toEqual(left)
  })
})
