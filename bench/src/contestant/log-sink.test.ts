import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type RunningLogSink, startLogSink } from './log-sink.js'

async function sinkFor(t: TestContext): Promise<RunningLogSink> {
  const sink = await startLogSink({ rejectPercent: 0, delayMs: 0 }, '127.0.0.1:0')
  t.after(() => sink.stop())
  return sink
}

async function sent(
  sink: RunningLogSink,
  path: string,
  body: string,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(sink.url + path, { method: 'POST', body })
  return { status: answer.status, text: await answer.text() }
}

const HOOKS: readonly (readonly [body: string, records: number, what: string])[] = [
  ['{"a":1}\n{"a":2}\n', 2, 'lines'],
  ['{"a":1}\n{"a":2}', 2, 'a last line without its newline'],
  ['{"a":1}', 1, 'a single record'],
  ['{"a":1}\r\n\r\n\n{"a":2}\r\n \n', 2, 'empty lines between'],
  ['[{"a":1},{"a":2},{"a":3}]', 3, 'a list'],
  ['\r\n \t[\n{"a":1},\n{"a":2}\n]\n', 2, 'a list behind a newline'],
  ['', 0, 'nothing'],
]

for (const [body, records, what] of HOOKS) {
  test(`a sink counts the records of a webhook: ${what}`, async (t) => {
    const sink = await sinkFor(t)
    assert.equal((await sent(sink, '/hook', body)).status, 200)
    assert.deepEqual(sink.totals(), { requests: 1, records, refused: 0, bytes: body.length })
  })
}

test('a list that cannot be read is refused and not counted', async (t) => {
  const sink = await sinkFor(t)
  assert.equal((await sent(sink, '/hook', '[{"a":1},')).status, 400)
  assert.equal(sink.totals().records, 0)
})

test('a bulk has a record in every second line, and one with an odd line is refused', async (t) => {
  const sink = await sinkFor(t)
  const record = '{"create":{}}\n{"a":1}'
  for (const bulk of [`${record}\n${record}\n`, `${record}\n${record}`, `${record}\r\n\r\n${record}\r\n`]) {
    const { status, text } = await sent(sink, '/logs/_bulk', bulk)
    assert.deepEqual([status, JSON.parse(text).items.length], [200, 2])
  }
  const { status, text } = await sent(sink, '/logs/_bulk', `${record}\n{"create":{}}\n`)
  assert.equal(status, 400)
  assert.match(text, /"reason":"the bulk has an odd number of lines, 3"/)
  assert.equal(sink.totals().records, 6)
})
