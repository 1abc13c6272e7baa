import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isIssue } from '../diagnostic/issue.js'
import { fillText, referencesIn } from '../resolve/plan-text.js'
import { asJsonText, jsonTemplate } from './json-template.js'
import { escapeText, parseTemplate, referencesOf } from './text-template.js'

test('references may stand in the middle of text', () => {
  const template = parseTemplate('http://${env:HOST}:${env:PORT}/')
  assert.ok(!isIssue(template))
  assert.deepEqual(
    referencesOf(template).map(({ name }) => name),
    ['HOST', 'PORT'],
  )
})

test('a doubled dollar stands for itself', () => {
  assert.deepEqual(parseTemplate('a $${b} $ {c} $$'), ['a ${b} $ {c} $$'])
  assert.deepEqual(parseTemplate('$$${env:A}'), ['$${env:A}'])
})

test('what looks like a reference and is none is refused', () => {
  for (const text of [
    '${',
    '${}',
    '${x}',
    '${env:}',
    '${env:a-b}',
    '${env:1}',
    '${file:}',
    '${file:a|b}',
    '${ENV:A}',
    '${env:A',
  ]) {
    assert.ok(isIssue(parseTemplate(text)), text)
  }
})

test('escaped text parses and fills to itself', () => {
  const text = fc
    .array(fc.constantFrom('$', '{', '}', 'env:A', 'a', '${', '$${'), { maxLength: 12 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (plain) => {
      assert.deepEqual(parseTemplate(escapeText(plain)), [plain])
      assert.equal(fillText(escapeText(plain), {}), plain)
    }),
  )
})

test('a value is put in as it is, also when it looks like a reference or a replacement pattern', () => {
  const values = { '${env:A}': '${env:B} $& $1 $${' }
  assert.equal(fillText('<${env:A}>', values), '<${env:B} $& $1 $${>')
  assert.throws(() => fillText('${env:B}', values), /\$\{env:B\}/)
})

test('a reference within a JSON body becomes a part of a JSON string', () => {
  const value = { by: 'on ${env:A} "here"', cost: '$${1}', list: [null, 1, true, '${env:A}'], $: 'x' }
  const text = jsonTemplate(value)
  const quoted = 'a"b\\c\n'
  const values = Object.fromEntries(referencesIn(text).map((reference) => [reference, asJsonText(quoted)]))
  const expected = { by: `on ${quoted} "here"`, cost: '${1}', list: [null, 1, true, quoted], $: 'x' }
  assert.deepEqual(JSON.parse(fillText(text, values)), expected)
})
