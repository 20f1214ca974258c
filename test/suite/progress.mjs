import { stripVTControlCharacters } from 'node:util'

const REDRAW_MILLISECONDS = 250
/** Between two lines where the output is no terminal. */
const LINE_MILLISECONDS = 30_000
const WHOLE_FILE = 'the file itself'

/** A reporter of vitest: says how far a plan is, prints each failure once, and keeps the results. */
export class Progress {
  #files = []
  #errors = []
  #passed = 0
  #failed = 0
  #began = performance.now()
  #drawn = performance.now()
  #weights
  #left

  constructor(plan) {
    this.#weights = new Map(plan.map(({ project, file, weight }) => [`${project} ${file}`, weight]))
    this.#left = new Map(this.#weights)
  }

  onTestRunStart() {
    if (process.stdout.isTTY) process.stdout.write(this.#line().slice(0, (process.stdout.columns ?? 80) - 1))
  }

  onTestModuleEnd(testModule) {
    const { project, relativeModuleId: path } = testModule
    const tests = [...testModule.children.allTests()].map((test) => ({
      title: test.fullName,
      line: test.location?.line,
      column: test.location?.column,
      isHeavy: test.tags.includes('heavy'),
      milliseconds: test.diagnostic()?.duration ?? 0,
      ...outcomeOf(test.result()),
    }))
    const errors = testModule.errors().map(textOf)
    const skippedByHook = testModule.state() === 'failed' && !tests.some(({ state }) => state === 'failed')
    if (errors.length > 0 || skippedByHook)
      tests.push({ title: WHOLE_FILE, state: 'failed', why: errors[0] ?? 'It failed outside of its tests.' })
    this.#files.push({ project: project.name, file: path, tests })
    this.#left.delete(`${project.name} ${path}`)
    for (const { state, title, why } of tests) {
      if (state === 'passed') this.#passed += 1
      if (state !== 'failed') continue
      this.#failed += 1
      this.#print(`✗ ${project.name}: ${path}: ${title}\n${indented(why)}`)
    }
    this.#draw()
  }

  onTestRunEnd(_modules, errors) {
    this.#errors = errors.map((error) => `${error.VITEST_TEST_PATH ?? 'no file'}: ${textOf(error)}`)
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
    console.log(this.#line())
  }

  results() {
    return { files: this.#files, errors: this.#errors }
  }

  #draw() {
    const { isTTY, columns = 80 } = process.stdout
    const now = performance.now()
    if (now - this.#drawn < (isTTY ? REDRAW_MILLISECONDS : LINE_MILLISECONDS)) return
    this.#drawn = now
    if (isTTY) process.stdout.write(`\r\x1b[K${this.#line().slice(0, columns - 1)}`)
    else console.log(this.#line())
  }

  #line() {
    const total = sum(this.#weights)
    const left = sum(this.#left)
    const minutes = ((performance.now() - this.#began) / 60_000) * (left / Math.max(total - left, 1))
    const isTooSoon = total - left < total / 50
    const guess =
      left === 0 || isTooSoon ? '' : `, about ${minutes < 1 ? 'a minute' : `${Math.round(minutes)} min`} left`
    const files = `${this.#weights.size - this.#left.size} of ${this.#weights.size} files`
    return `${files}: ${this.#passed} tests passed, ${this.#failed} failed${guess}`
  }

  #print(text) {
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K')
    console.log(text)
  }
}

function outcomeOf({ state, errors = [] }) {
  return state === 'failed' ? { state, why: errors.map(textOf).join('\n') } : { state }
}

function textOf({ name, message, stack, cause, diff }) {
  const because = cause ? `\nbecause of ${textOf(cause)}` : ''
  return stripVTControlCharacters(`${diff ? `${message}\n${diff}\n` : ''}${stack ?? `${name}: ${message}`}${because}`)
}

const indented = (text) =>
  text
    .split('\n')
    .slice(0, 30)
    .map((line) => `    ${line}`)
    .join('\n')
const sum = (weights) => [...weights.values()].reduce((one, other) => one + other, 0)
