import { writeFileSync } from 'node:fs'

/** Records failures outside of tests, such as a dead worker, which the JSON results leave out. */
export default class ErrorsReporter {
  onTestRunEnd(_modules, errors) {
    const place = process.env.PLAZA_TEST_ERRORS
    if (place && errors.length > 0) writeFileSync(place, JSON.stringify(errors.map(said)))
  }
}

function said({ name, message, stack, cause, VITEST_TEST_PATH: path }) {
  const because = cause ? `\nbecause of ${said(cause)}` : ''
  return `${path ? `${path}: ` : ''}${stack ?? `${name}: ${message}`}${because}`
}
