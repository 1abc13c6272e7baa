import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSyslog } from '../testing/syslog-parser.js'
import { SyslogMessages } from './message.js'
import { FACILITIES, parseSyslogAddress, type SyslogOptions } from './options.js'

const OPTIONS: SyslogOptions = {
  address: 'udp://127.0.0.1',
  facility: 'local3',
  appName: 'edge',
  structuredDataId: 'traffic@32473',
  maxMessageBytes: 8192,
  tls: { caFile: null, certFile: null, keyFile: null, insecure: false },
}

function messageOf(record: object, options: Partial<SyslogOptions> = {}) {
  // Records are printable ASCII.
  const json = JSON.stringify(record).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return parseSyslog(new SyslogMessages({ ...OPTIONS, ...options }).messageOf(Buffer.from(json), 'k-1'))
}

test('the head of a message says who, when and what, and the message is the record', () => {
  const record = {
    '@timestamp': '2026-01-31T23:59:59.123Z',
    id: 'r-1',
    route: 'orders',
    result: 'success',
    res: { status: 200 },
    gw: { pod: 'pod-7' },
  }
  assert.deepEqual(messageOf(record), {
    facility: 19,
    severity: 6,
    timestamp: '2026-01-31T23:59:59.123Z',
    host: 'pod-7',
    app: 'edge',
    process: String(process.pid),
    messageId: 'traffic',
    data: { 'traffic@32473': { id: 'r-1', route: 'orders', status: '200', key: 'k-1' } },
    text: JSON.stringify(record),
  })
})

test('the severity follows from the result', () => {
  const severityOf = (result: string): number => messageOf({ result }).severity
  const results = ['success', 'blocked', 'aborted', 'shed', 'error', 'unheard-of']
  assert.deepEqual(results.map(severityOf), [6, 5, 5, 4, 3, 5])
})

test('facilities have the numbers of RFC 5424', () => {
  for (const [number, facility] of FACILITIES.entries())
    assert.equal(messageOf({}, { facility }).facility, number)
  assert.equal(FACILITIES.length, 24)
})

test('values that would end the structured data are escaped, and other characters are UTF-8', () => {
  const id = 'a"]\\b [x@1 y="1"] ü 😀 \u0000\n'
  const { data, text } = messageOf({ id, route: ']' })
  assert.deepEqual(data, { 'traffic@32473': { id, route: ']', key: 'k-1' } })
  assert.equal(JSON.parse(text).id, id)
})

test('a head never holds what the grammar forbids', () => {
  const { host, app, timestamp } = messageOf(
    { '@timestamp': 'today', gw: { pod: `ä pod\n${'x'.repeat(300)}` } },
    { appName: `a b${'c'.repeat(60)}` },
  )
  assert.deepEqual([host.length, host.slice(0, 6), app.length, timestamp], [255, '__pod_', 48, '-'])
})

test('invalid records still become messages', () => {
  for (const text of ['null', '7', '{"a":'])
    assert.equal(parseSyslog(new SyslogMessages(OPTIONS).messageOf(Buffer.from(text), 'k')).text, text)
})

test('an address without a port uses the default port of its transport', () => {
  assert.deepEqual(parseSyslogAddress('udp://logs'), { transport: 'udp', host: 'logs', port: 514 })
  assert.deepEqual(parseSyslogAddress('tcp://logs'), { transport: 'tcp', host: 'logs', port: 601 })
  assert.deepEqual(parseSyslogAddress('tls://[::1]'), { transport: 'tls', host: '::1', port: 6514 })
  assert.deepEqual(parseSyslogAddress('tls://logs:7'), { transport: 'tls', host: 'logs', port: 7 })
  assert.throws(() => parseSyslogAddress('http://logs'), /not a syslog transport/)
})
