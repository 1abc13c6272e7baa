import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printData } from './output.js'

const TEXT = '{\n\t"a": "\u0000\u001b[31m\u009b2J\u202e\u{e0001}é"\n}\n'

for (const [isTTY, expected] of [
  [true, '{\n\t"a": "\\u0000\\u001b[31m\\u009b2J\\u202e\\udb40\\udc01é"\n}\n'],
  [false, TEXT],
] as const) {
  test(`data of others is ${isTTY ? 'escaped on a terminal' : 'unchanged in a pipe'}`, (t) => {
    const before = process.stdout.isTTY
    t.after(() => {
      process.stdout.isTTY = before
    })
    const written: unknown[] = []
    t.mock.method(process.stdout, 'write', (text: unknown) => written.push(text) > 0)
    process.stdout.isTTY = isTTY
    printData(TEXT)
    process.stdout.isTTY = before
    t.mock.restoreAll()
    assert.deepEqual(written, [expected])
  })
}
