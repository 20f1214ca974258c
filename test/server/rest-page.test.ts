// Modes: embedded
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { boot } from '#test/support/boot'

const page = readFileSync('docs/rest.md', 'utf8')
const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('\n')
const isThere = (tool: string) => spawnSync(tool, ['--version']).status === 0

test.skipIf(!['bash', 'curl', 'jq'].every(isThere))(
  'N84: each command of docs/rest.md does what the page says',
  async () => {
    const server = await boot({ nodes: 1 })
    try {
      const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands], { env: { ...process.env, URL: server.url } })
      const [said, faults] = await Promise.all([text(shell.stdout), text(shell.stderr)])
      expect(faults).toBe('')
      const values = said.split('\n').filter((line) => line.startsWith('{'))
      expect(said).toContain('"account"')
      expect(said).toContain('Is anybody there?')
      const read = (part: string) => values.filter((line) => line.includes(part)).map((line) => JSON.parse(line))
      const [first, again] = read('"duplicate"')
      expect([first.duplicate, again]).toEqual([null, { id: first.id, duplicate: true }])
      expect(read('VALIDATION_ERROR')).toHaveLength(1)
      expect(read('"has_older"')).toEqual([{ newest: 'Once only', has_older: true }])
      expect(read('"older"')).toEqual([{ older: 'Is anybody there?' }])
      const events = read('"type"')
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
      expect(read('"new"')).toEqual([{ new: 0 }])
    } finally {
      await server.close()
    }
  },
)
