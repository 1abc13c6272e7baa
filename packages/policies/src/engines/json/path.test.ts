import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { UnreadableBody } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import { compileJsonPath, simpleSteps } from './path.js'

interface Case {
  readonly name: string
  readonly selector: string
  readonly document?: unknown
  readonly result?: readonly unknown[]
  readonly results?: readonly (readonly unknown[])[]
  readonly invalid_selector?: boolean
}

/** Cases of the JSONPath Compliance Test Suite, included in the parser's package. */
function suite(): readonly Case[] {
  const main = createRequire(import.meta.url).resolve('jsonpath-rfc9535/package.json')
  const file = join(dirname(main), 'src/__tests__/jsonpath-compliance-test-suite/cts.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { tests: Case[] }).tests
}

/** Patterns that come from the document or are invalid are refused. */
const REFUSED_PATTERN = /must be a string in the path|cannot be matched in linear time/

test('the compliance suite of RFC 9535 is answered as it asks', () => {
  const wrong: string[] = []
  let checked = 0
  for (const { name, selector, document, result, results, invalid_selector: isInvalid } of suite()) {
    const accepted = results ?? [result]
    try {
      const found = compileJsonPath(selector).all(document)
      checked++
      if (isInvalid) wrong.push(`${name}: ${selector} is accepted`)
      else if (!accepted.some((one) => isDeepEqual(one, found))) {
        wrong.push(`${name}: ${selector} finds ${JSON.stringify(found)}`)
      }
    } catch (error) {
      const isExpected = isInvalid === true || REFUSED_PATTERN.test((error as Error).message)
      if (!isExpected) wrong.push(`${name}: ${selector} ${(error as Error).message}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(checked > 400, `${checked}`)
})

function isDeepEqual(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b)
    return true
  } catch {
    return false
  }
}

test('paths of names and positions need no parser', () => {
  assert.deepEqual(simpleSteps('$'), [])
  assert.deepEqual(simpleSteps('$.a[\'b.c\'][0]["d"][-1]'), ['a', 'b.c', 0, 'd', -1])
  for (const path of ['a', '$.', '$.a[*]', '$..a', '$[01]', '$[-0]', "$['a\\u0062']", '$.a ']) {
    assert.equal(simpleSteps(path), null, path)
  }
})

test('a path finds own members only, and those with names of the language', () => {
  const document = JSON.parse('{"__proto__":{"a":1},"list":[1,2,3],"constructor":5}')
  assert.equal(compileJsonPath('$.__proto__.a').first(document), 1)
  assert.equal(compileJsonPath('$.constructor').first(document), 5)
  assert.equal(compileJsonPath('$.toString').first(document), undefined)
  assert.equal(compileJsonPath('$.list.length').first(document), undefined)
  assert.equal(compileJsonPath('$.list[-1]').first(document), 3)
  assert.equal(compileJsonPath('$.list[3]').first(document), undefined)
  assert.equal(compileJsonPath('$.list[0].x').first(document), undefined)
})

test('an invalid path is refused with the position of the error', () => {
  assert.throws(
    () => compileJsonPath('$.a['),
    /'\$\.a\[' is not a JSON path \(RFC 9535\): syntax error at character 5/,
  )
  assert.throws(
    () => compileJsonPath('order.id'),
    /syntax error at character 1; use a path such as \$\.order/,
  )
  assert.throws(() => compileJsonPath(''), /is not a JSON path/)
  assert.throws(() => compileJsonPath('$[?foo(@.a)]'), /'foo' with 1 arguments is not a JSON path function/)
  assert.throws(() => compileJsonPath(`$.${'a'.repeat(3000)}`), /longer than 2048/)
})

test('a pattern never comes from the document and never backtracks', () => {
  assert.throws(() => compileJsonPath('$[?match(@.a, $.pattern)]'), /must be a string in the path/)
  assert.throws(() => compileJsonPath("$[?match(@.a, '(?=a)b')]"), /linear time/)
  const path = compileJsonPath("$[?match(@, '(a+)+')]")
  const beforeMs = cpuMs()
  assert.deepEqual(path.all([`${'a'.repeat(50_000)}!`]), [])
  assert.ok(cpuMs() - beforeMs < 10_000)
  assert.deepEqual(path.all(['aaa']), ['aaa'])
})

test('a query that would look at the same values over and over ends', () => {
  let document: unknown = 1
  for (let i = 0; i < 400; i++) document = { a: document, b: [1, 2, 3] }
  const path = compileJsonPath('$..a..a..a')
  const beforeMs = cpuMs()
  assert.throws(() => path.all(document), UnreadableBody)
  assert.ok(cpuMs() - beforeMs < 10_000)
})
