import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOperationLog, errorFields } from './operation-log.js'

interface Written {
  readonly [field: string]: unknown
}

function recorder(perSecond: number) {
  const lines: string[] = []
  const clock = { ms: 1_000_000 }
  const log = createOperationLog({
    write: (line) => lines.push(line),
    now: () => clock.ms,
    perSecond,
    fields: { worker: 2 },
  })
  const entries = () => lines.map((line) => JSON.parse(line) as Written)
  return { log, lines, clock, entries }
}

test('an entry is one line of JSON with time, level, event, the common fields and its own', () => {
  const { log, lines, entries } = recorder(10)
  log.warn('config.refused', { file: 'gateway.yaml' })
  assert.equal(lines[0]?.endsWith('\n'), true)
  assert.deepEqual(entries()[0], {
    time: '1970-01-01T00:16:40.000Z',
    level: 'warn',
    event: 'config.refused',
    worker: 2,
    file: 'gateway.yaml',
  })
})

test('a flood of one event is cut to the bound and its size is reported with the next entry', () => {
  const { log, clock, entries } = recorder(3)
  for (let i = 0; i < 10; i++) log.info('flood')
  log.info('other')
  assert.equal(entries().length, 4)
  clock.ms += 1000
  log.info('flood')
  assert.equal(entries()[4]?.['suppressed'], 7)
  log.info('flood')
  assert.equal(entries()[5]?.['suppressed'], undefined)
})

test('a clock that is set back does not silence an event', () => {
  const { log, clock, entries } = recorder(1)
  log.info('tick')
  clock.ms -= 3_600_000
  log.info('tick')
  assert.equal(entries().length, 2)
})

test('a field that JSON refuses loses the fields, not the process', () => {
  const { log, entries } = recorder(1)
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  log.error('odd', { cycle })
  assert.equal(entries()[0]?.['event'], 'odd')
})

test('an error is reported with the messages of its causes', () => {
  const error = new Error('no listener', { cause: new Error('port in use') })
  const fields = errorFields(error)
  assert.equal(fields['message'], 'no listener')
  assert.deepEqual(fields['causes'], ['port in use'])
  assert.deepEqual(errorFields('text'), { message: 'text' })
})
