import { Parser } from '@asyncapi/parser'
import { expect, test } from 'vitest'
import { textOf } from '../sources.ts'

test('docs/api/asyncapi.json is an AsyncAPI 3.0 document', async () => {
  const diagnostics = await new Parser().validate(textOf('docs/api/asyncapi.json'))
  expect(diagnostics.filter(({ severity }) => severity === 0).map(({ message }) => message)).toEqual([])
}, 400_000)
