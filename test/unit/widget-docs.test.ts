import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { kindOfWidget, widgetTypes } from '#shared/api/people/profile-widgets'

test('the types of widgets in the documentation are those that there are', () => {
  const rows = widgetTypes.map((type) => {
    const { category, sizes, usual, config } = kindOfWidget(type)
    const usualFirst = [usual, ...sizes.filter((size) => size !== usual)]
    const fields = Object.keys(config.shape).map((name) => `\`${name}\``)
    return `| \`${type}\` | ${category} | ${usualFirst.join(', ')} | ${fields.join(', ')} |`
  })
  const [, table = ''] = readFileSync('docs/profiles.md', 'utf8').split('| --- | --- | --- | --- |\n')
  expect(table.trim().split('\n')).toEqual(rows)
})
