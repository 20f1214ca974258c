// Modes: embedded
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'

const page = readFileSync('docs/rest.md', 'utf8')
const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('\n')
const isThere = (tool: string) => spawnSync(tool, ['--version']).status === 0

/** What the commands print: JSON, a value after the other. */
async function run(url: string): Promise<unknown[]> {
  const shell = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', commands], { env: { ...process.env, URL: url } })
  const [said, faults] = await Promise.all([text(shell.stdout), text(shell.stderr)])
  expect(faults).toBe('')
  const printed = spawnSync('jq', ['-cs', '.'], { input: said, encoding: 'utf8' })
  return JSON.parse(printed.stdout)
}

test.skipIf(!['bash', 'curl', 'jq'].every(isThere))(
  'N84: each command of docs/rest.md does what the page says',
  heavy,
  async () => {
    const server = await boot({ nodes: 1 })
    try {
      for (const _ of ['once', 'once more']) {
        const values = await run(server.url)
        const id = expect.stringMatching(/^[\w-]{10,}$/)
        expect(values).toEqual([
          { success: true, message: 'Verification code sent' },
          { account: expect.stringMatching(/^email:[0-9a-f]+$/) },
          { seq: expect.any(Number), text: 'Is anybody there?' },
          { id, duplicate: null },
          { id, duplicate: true },
          { success: false, error: expect.objectContaining({ code: 'VALIDATION_ERROR' }) },
          { success: true },
          { type: 'dm', is_member: true },
          { newest: 'Once only', has_older: true },
          { older: 'Is anybody there?' },
          { seq: 1, type: expect.any(String) },
          { seq: 2, type: 'message.created' },
          { seq: 3, type: 'message.created' },
          { new: 0 },
        ])
      }
    } finally {
      await server.close()
    }
  },
)
