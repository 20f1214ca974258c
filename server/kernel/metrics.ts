import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

const registry = new Registry()
collectDefaultMetrics({ register: registry })
const registers = [registry]

const operations = new Counter({
  name: 'plaza_operations_total',
  help: 'Calls by operation, door and outcome.',
  labelNames: ['operation', 'door', 'outcome'],
  registers,
})
const seconds = new Histogram({
  name: 'plaza_operation_seconds',
  help: 'Time from parse to answer.',
  labelNames: ['operation', 'door'],
  buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2, 5],
  registers,
})
const sockets = new Gauge({ name: 'plaza_sockets', help: 'Open socket connections.', registers })
const verdicts = new Counter({
  name: 'plaza_verdicts_total',
  help: 'Verdicts by the step that decided.',
  labelNames: ['step'],
  registers,
})
const slow = new Counter({
  name: 'plaza_slow_consumers_total',
  help: 'Sockets closed because they did not read.',
  registers,
})
const unhandled = new Counter({ name: 'plaza_unhandled_total', help: 'Errors nobody caught.', registers })

export const metrics = {
  operation(operation: string, door: string, outcome: string, milliseconds: number) {
    operations.inc({ operation, door, outcome })
    seconds.observe({ operation, door }, milliseconds / 1000)
  },
  sockets: (open: number) => sockets.set(open),
  verdict: (step: string) => verdicts.inc({ step }),
  slowConsumer: () => slow.inc(),
  unhandled: () => unhandled.inc(),
  text: () => registry.metrics(),
  contentType: registry.contentType,
}
