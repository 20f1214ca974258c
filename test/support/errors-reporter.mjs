import { writeFileSync } from 'node:fs'

/** Keeps what failed outside of any test, such as a worker that died; the results in JSON are silent about it. */
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
