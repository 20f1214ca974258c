import { expect, test } from 'vitest'
import { budgets } from '#server/kernel/limits/budgets'
import { textOf } from './sources.ts'

test('each budget is one row of the documentation, with its number and what happens afterwards', () => {
  const [, section = ''] = textOf('docs/security.md').split('\n## Budgets\n')
  const rows = section.split('\n## ')[0]?.split('\n') ?? []
  const all = Object.values(budgets).flatMap((one) => ('most' in one ? one : Object.values(one)))
  for (const { what, countedBy, most, afterwards } of all)
    expect(rows).toContain(`| ${what} | ${countedBy} | ${most.toLocaleString('en')} | ${afterwards} |`)
})
