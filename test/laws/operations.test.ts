import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { FORMAT } from '#server/ports/database/embedded/tallies'
import { root, textOf } from './sources.ts'

const text = textOf('docs/operations.md')
const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
const profiles = Object.values(parse(textOf('docker-compose.yml')).services as Record<string, { profiles?: string[] }>)

/** Lines of the blocks of commands, without what is said of them, and commands between backticks. */
const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) => block.trim().split('\n'))
const inline = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
const isCommand = /^(?:[A-Z_]+=\S* )*(?:npm|node|sh|docker) /
const commands = [...blocks, ...inline]
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .flatMap((line) => line.split(' && '))
  .filter((line) => isCommand.test(line))

/** What a command names, and whether it is there. */
function faultsOf(command: string): string[] {
  const words = command.split(' ')
  const given = words.filter((word) => /^[A-Z_]+=/.test(word)).map((word) => word.split('=', 1).join())
  const [program = '', ...rest] = words.slice(given.length)
  const unknown = given.filter(
    (name) => !new RegExp(`^\\| (?:.*)\`${name}\``, 'm').test(textOf('docs/configuration.md')),
  )
  return [...unknown, ...(faults[program]?.(rest) ?? [`${program} is not known here`])]
}

const faults: Record<string, (words: readonly string[]) => string[]> = {
  npm: ([verb = '', name = '', ...rest]) => {
    if (['ci', 'install'].includes(verb)) return []
    const script = verb === 'run' ? name : verb
    const own = (verb === 'run' ? rest : [name, ...rest]).filter((word) => word !== '' && word !== '--')
    if (!scripts[script]) return [`there is no script ${script}`]
    return own.flatMap((word) => unlessIn(word, sources[script] ?? '', script))
  },
  node: (words) => {
    const path = words.find((word) => !word.startsWith('-')) ?? ''
    const [, part = ''] = /^dist\/(\w+)\/main\.js$/.exec(path) ?? []
    const isBuilt = textOf('scripts/build.mjs').includes(`name: '${part}'`)
    const options = words.filter((word) => word.startsWith('--max'))
    return [
      ...(isBuilt ? [] : [`${path} is not built`]),
      ...options.filter((option) => !scripts.start?.includes(option)).map((option) => `npm start has no ${option}`),
    ]
  },
  sh: ([path = '']) => (existsSync(join(root, path)) ? [] : [`there is no ${path}`]),
  docker: (words) => {
    const at = words.indexOf('--profile')
    const name = at < 0 ? undefined : words[at + 1]
    const isThere = name === undefined || profiles.some((service) => service.profiles?.includes(name))
    const inside = words.indexOf('node')
    return [
      ...(isThere ? [] : [`there is no profile ${name}`]),
      ...(inside < 0 ? [] : (faults.node?.(words.slice(inside + 1, inside + 2)) ?? [])),
    ]
  },
}

/** Where the words of a script's own are read. */
const sources: Record<string, string> = {
  plaza: textOf('server/cli.ts'),
  start: textOf('server/workers.ts'),
  bench: textOf('test/bench/run.ts'),
}

/** A value, such as a path or a number, may be any. */
function unlessIn(word: string, source: string, script: string): string[] {
  const name = word.replace(/^--/, '')
  if (/[/.]|^\d+$|^N$/.test(word) || source.includes(`'${name}'`) || source.includes(`${name}:`)) return []
  return [`${script} does not know ${word}`]
}

test('O44: each command of the document for operators is one that there is', () => {
  expect(commands.length).toBeGreaterThan(15)
  expect(commands.flatMap((command) => faultsOf(command).map((fault) => `${command}: ${fault}`))).toEqual([])
})

test('O44: the document names the format of the store that this version writes', () => {
  expect(text).toContain(`A store has a format, which is ${FORMAT} now.`)
})
