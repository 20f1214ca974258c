// Runs a plan in one queue: `node test/suite/vitest.mjs PLAN RESULTS`. Plain JavaScript, as Node 20 runs it too.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVitest } from 'vitest/node'
import { Progress } from './progress.mjs'

const [planFile, resultsFile] = process.argv.slice(2)
/** In the order in which they begin: `{ project, file, tags: 'light' | 'heavy' | 'all' }`. */
const plan = JSON.parse(readFileSync(planFile, 'utf8'))
const filters = { light: ['!heavy'], heavy: ['heavy'], all: undefined }

class InOrder {
  shard = (specifications) => specifications
  sort = (specifications) => specifications
}

const progress = new Progress(plan)
const vitest = await createVitest('test', {
  watch: false,
  project: [...new Set(plan.map(({ project }) => project))],
  reporters: [progress],
  sequence: { sequencer: InOrder },
})
const projects = new Map(vitest.projects.map((project) => [project.name, project]))
const specifications = plan.map(({ project, file, tags }) =>
  projects.get(project).createSpecification(join(vitest.config.root, file), { testTagsFilter: filters[tags] }),
)
await vitest.runTestSpecifications(specifications, true)
await vitest.close()
writeFileSync(resultsFile, JSON.stringify(progress.results()))
