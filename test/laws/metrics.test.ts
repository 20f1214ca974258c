import { describe, expect, test } from 'vitest'
import { createCrewMetrics, createMetrics } from '#server/kernel/operate/metrics'
import { textOf } from './sources.ts'

const isOurs = ({ name }: { name: string }) => name.startsWith('plaza_')

describe('the metrics', () => {
  const all = [...createMetrics().described(), ...createCrewMetrics().described()]

  test('each has a help text, and a name by the rules of Prometheus', () => {
    expect(all.length).toBeGreaterThan(20)
    for (const { name, help } of all) {
      expect(name).toMatch(/^(plaza|nodejs|process)_[a-z0-9_]+$/)
      expect(help.length, name).toBeGreaterThan(5)
    }
  })

  test('each of ours is one row of the documentation, with its help text, an alarm and what to do', () => {
    const rows = [...textOf('docs/operations.md').matchAll(/^\| `(plaza_\w+)` \| (.+?) \| (.+?) \| (.+?) \|$/gm)]
    expect(rows.map(([, name, help]) => ({ name, help })).toSorted(byName)).toEqual(all.filter(isOurs).toSorted(byName))
  })
})

function byName(one: { name: string | undefined }, other: { name: string | undefined }): number {
  return String(one.name).localeCompare(String(other.name))
}
