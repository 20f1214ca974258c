import { describe, expect, test } from 'vitest'
import { findings, parse, sourcesOf } from './sources.ts'

const OPERATORS = [
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists', '$and', '$or', '$nor', '$elemMatch'],
  ...['$set', '$unset', '$inc', '$min', '$max', '$setOnInsert', '$push', '$pull', '$addToSet'],
]
/** Keys of JSON Schema, which is no query. */
const SCHEMA_KEYS = ['$schema', '$ref', '$defs', '$id']
const OPERATOR = new RegExp(
  `(?<![\\w$])\\$(?!(${[...OPERATORS, ...SCHEMA_KEYS].map((name) => name.slice(1)).join('|')})\\b)[a-z]\\w*`,
  'g',
)

const METHODS =
  /(?<!\bAggregatorRegistry)\.\s*(startSession|withTransaction|transaction|watch|aggregate|mapReduce|collation|populate|findOneAndReplace|replaceOne|estimatedDocumentCount|explain|hint)\s*\(/g
const VALUES = /\b(ObjectId|Decimal128|Types\.Map)\b|\btype:\s*Map\b|\bcollation:/g

describe('stored data is portable: the same on the embedded store and on MongoDB', () => {
  const sources = sourcesOf('server').filter(({ path }) => !path.startsWith('server/ports/database/'))

  test('only operators that both answer alike', () => expect(findings(sources, OPERATOR)).toEqual([]))

  test('only methods that both have', () => expect(findings(sources, METHODS)).toEqual([]))

  test('only values that both keep', () => expect(findings(sources, VALUES)).toEqual([]))

  test('catches what is planted', () => {
    const planted = [
      parse('server/a.ts', "// $where\nconst q = { $expr: 1, a: { $in: [] }, '$text': 1 }; x.watch(); type: Map"),
    ]
    expect(findings(planted, OPERATOR)).toEqual(['server/a.ts: $expr', 'server/a.ts: $text'])
    expect(findings(planted, METHODS)).toHaveLength(1)
    expect(findings(planted, VALUES)).toHaveLength(1)
  })
})
