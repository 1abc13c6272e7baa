import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeLimitOf } from './xpath-cost.js'

const LIMITS: readonly (readonly [nodes: number, paths: readonly string[]])[] = [
  [
    100_000,
    [
      '/a/b/c',
      'a',
      '//a',
      '//a/b/@c',
      "//m:buy/order[1]/symbol = 'IBM'",
      '/a/b[1]/c[@d = "//x//y"]',
      '(//a)[1]/b',
      'count(//a) = count(//b)',
      'string-length(string(//a)) * 2 > 5',
      '/soap:Envelope/soap:Body/*',
      '//a/text()',
      '//a[b and not(c)]',
      '//a[position() = last()]',
      '/a/*[2]/node()',
      'descendant::a/child::b',
      'a * b',
      '* * *',
      'div div div',
      '//*[local-name() = "a"]',
      '..',
    ],
  ],
  [
    10_000,
    [
      '/a/b//c',
      '//a | //b',
      '//a = //b',
      '//a[b = c]',
      '//a[ancestor::b]',
      '/a/b//c[d]',
      '//a[.//b]',
      '/a/..',
      '//a/..',
      '//a/parent::b',
      '/a/b/ancestor::c',
      'count(/a/b//c)',
      'number(//a/..) + 1',
      '(/a | /b)/c',
    ],
  ],
  [1000, ['//a[/b/c]', '//a[following-sibling::b]', '//a[//b]', '//a[.//b[.//c]]', '//a[sum(//b) = 1]']],
]

for (const [nodes, paths] of LIMITS) {
  for (const path of paths) {
    test(`${path} is asked of up to ${nodes} nodes`, () => assert.equal(nodeLimitOf(path), nodes))
  }
}

const REFUSED = [
  '//a//b',
  '//a/descendant::b',
  '/a/b//c//d',
  '//a/ancestor::b',
  '//a/following-sibling::b',
  '/a/b/following::c',
  '/a/b/preceding-sibling::*',
  '//a[.//b//c]',
  '//a[b = //c//d]',
  'count((//a)//b)',
  '(//a | b)//c',
  "concat('x', //a//b)",
  '//a[//b[//c]]',
  '//a[following::b[following::c]]',
  '//a[(//b)[//c]]',
  '//a[//b = //c]',
  '//*//*',
  'id("x")//a//b',
]

for (const path of REFUSED) {
  test(`${path} is refused`, () => assert.throws(() => nodeLimitOf(path), /may take cubic time/))
}
