import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fittedTable, kept, minor, tableLines } from './table.js'

test('columns are as wide as their widest cell, numbers are right-aligned, and line ends are not padded', () => {
  assert.deepEqual(
    tableLines(
      ['NAME', 'COUNT', 'STATE'],
      [
        ['a', 7, 'ok'],
        ['longer', 1200, ''],
      ],
    ),
    ['NAME    COUNT  STATE', 'a           7  ok', 'longer   1200'],
  )
})

test('a table without rows has only headings', () => {
  assert.deepEqual(tableLines(['A', 'B'], []), ['A  B'])
})

test('the widest column is truncated, down to a minimum width', () => {
  const rows = [['short', 'a text that is much too long for the terminal']]
  assert.deepEqual(tableLines(['ID', 'TEXT'], rows, 24), ['ID     TEXT', 'short  a text that is m…'])
  assert.deepEqual(tableLines(['ID', 'TEXT'], rows, 3), ['ID     TEXT', 'short  a text …'])
})

test('external text cannot control the terminal or break the table', () => {
  const [, line] = tableLines(['TEXT'], [['a\u001b[2J\nb\u202e']])
  assert.equal(line, 'a\\u{1b}[2J\\u{a}b\\u{202e}')
})

test('no line exceeds the maximum width if the columns allow it', () => {
  const cell = fc.oneof(fc.string({ maxLength: 40 }), fc.integer())
  fc.assert(
    fc.property(
      fc.array(fc.tuple(cell, cell, cell), { maxLength: 6 }),
      fc.integer({ min: 28, max: 120 }),
      (rows, width) => {
        for (const line of tableLines(['A', 'B', 'C'], rows, width)) {
          assert.ok([...line].length <= width, line)
        }
      },
    ),
  )
})

const UPSTREAM_HEADINGS = [
  'UPSTREAM',
  minor('BALANCE', 1),
  kept('TARGET'),
  minor('WEIGHT', 2),
  'STATE',
  'FAILURES',
]
const UPSTREAM_ROWS = [
  ['orders', 'round-robin', 'http://orders.shop.svc.cluster.local:9000', 1, '2 up, 1 drained', 0],
  ['stock', 'least-requests', 'http://10.0.0.5:9000', 100, 'up', 12],
]

const WIDTHS: readonly (readonly [width: number, lines: readonly string[], leftOut: readonly string[]])[] = [
  [
    120,
    [
      'UPSTREAM  BALANCE         TARGET                                     WEIGHT  STATE            FAILURES',
      'orders    round-robin     http://orders.shop.svc.cluster.local:9000       1  2 up, 1 drained         0',
      'stock     least-requests  http://10.0.0.5:9000                          100  up                     12',
    ],
    [],
  ],
  [
    80,
    [
      'UPSTREAM  TARGET                                     WEIGHT  STATE      FAILURES',
      'orders    http://orders.shop.svc.cluster.local:9000       1  2 up, 1 …         0',
      'stock     http://10.0.0.5:9000                          100  up               12',
    ],
    ['BALANCE'],
  ],
  [
    60,
    [
      'UPSTREAM  TARGET                          STATE     FAILURES',
      'orders    http://orders.shop.svc.cluste…  2 up, 1…         0',
      'stock     http://10.0.0.5:9000            up              12',
    ],
    ['BALANCE', 'WEIGHT'],
  ],
]

for (const [width, lines, leftOut] of WIDTHS) {
  test(`a table of ${width} columns leaves out minor columns before it cuts a URL`, () => {
    const table = fittedTable(UPSTREAM_HEADINGS, UPSTREAM_ROWS, width)
    assert.deepEqual(table.lines, lines)
    assert.deepEqual(table.leftOut, leftOut)
  })
}
