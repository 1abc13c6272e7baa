import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnreadableBody } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import { jsonLanguage } from '../../engines/json/language.js'
import { exchange } from '../../testing.js'
import { type JsonReading, jsonOf, jsonOfBytes } from './view.js'

function read(text: string | Uint8Array, reading: JsonReading = {}): unknown {
  return jsonOfBytes(typeof text === 'string' ? Buffer.from(text) : text, reading).value
}

function refuses(text: string | Uint8Array, reason: RegExp, reading: JsonReading = {}): void {
  assert.throws(
    () => read(text, reading),
    (error: unknown) => {
      assert.ok(error instanceof UnreadableBody)
      assert.equal(error.code, 'GW_BODY_UNPARSABLE')
      assert.match(error.message, reason)
      return true
    },
  )
}

test('a body is parsed once for all that read it, and again once it is replaced', () => {
  const body = Buffer.from('{"a":1}')
  const x = exchange({ body })
  assert.equal(jsonOf(x, body), jsonOf(x, body, { maxDepth: 8 }))
  const other = Buffer.from('{"a":2}')
  assert.deepEqual(jsonOf(x, other).value, { a: 2 })
})

test('bodies that are not JSON in UTF-8 are refused without quoting them', () => {
  refuses('', /is empty/)
  refuses('{"secret-token": tru}', /is not JSON/)
  refuses('{"a":1}x', /is not JSON; syntax error at character 7/)
  refuses(Buffer.from([0x22, 0xc3, 0x28, 0x22]), /is not UTF-8/)
  refuses(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /is not UTF-8/)
  refuses('\ufeff{}', /byte order mark/)
  refuses('{"a":NaN}', /is not JSON/)
  for (const number of ['1e400', '-1E+400', '1.5e309'])
    refuses(`[true,{"a":[${number}]}]`, /number that is too large/)
  assert.deepEqual(read('[1e5,1E-400,"1e400",false]'), [1e5, 0, '1e400', false])
  refuses("{'a':1}", /is not JSON/)
  assert.throws(
    () => read('{"password":"hunter2",}'),
    (error: Error) => !error.message.includes('hunter2') && !error.message.includes('password'),
  )
})

test('depth is refused before anything is parsed', () => {
  const beforeMs = cpuMs()
  refuses('['.repeat(100_000), /deeper than 512/)
  refuses('['.repeat(1024 * 1024), /deeper than 512/)
  refuses('{"a":'.repeat(100_000), /deeper than 512/)
  assert.ok(cpuMs() - beforeMs < 10_000)
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  assert.ok(read(nested(64)))
  refuses(nested(65), /deeper than 64/)
  refuses(nested(9), /deeper than 8/, { maxDepth: 8 })
  assert.ok(read(nested(512), { maxDepth: 512 }))
  assert.ok(read(JSON.stringify({ text: `${'[{'.repeat(500)}\\"` })), 'brackets in texts do not nest')
})

test('a duplicate name in an object is found, however it is escaped', () => {
  const reject = { duplicateKeys: 'refuse' } as const
  for (const text of [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '[{"x":{"":1,"":2}}]',
    '{"__proto__":1,"__proto__":2}',
  ]) {
    refuses(text, /a duplicate name/, reject)
    assert.ok(read(text), 'the last one counts where nobody minds')
  }
  for (const text of [
    '{"a":1,"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a:":":"}',
    '{"a\\":":1,"__proto__":2}',
  ]) {
    assert.ok(read(text, reject), text)
  }
})

test('names of the language are members like others', () => {
  const value = read('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}') as object
  assert.deepEqual(Object.keys(value), ['__proto__', 'constructor'])
  assert.equal((value as { isAdmin?: boolean }).isAdmin, undefined)
  assert.equal(({} as { x?: number }).x, undefined)
})

test('many numbers and members are handled', () => {
  const beforeMs = cpuMs()
  for (const zeros of [309, 350, 100_000]) refuses(`[1, 1${'0'.repeat(zeros)}]`, /number that is too large/)
  assert.deepEqual(read(`["${'1'.repeat(400)}",1${'0'.repeat(308)}]`), ['1'.repeat(400), 1e308])
  const many = `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`
  assert.ok(read(many, { duplicateKeys: 'refuse' }))
  assert.ok(cpuMs() - beforeMs < 10_000)
})

test('a condition gets the first match, objects and arrays as JSON text', () => {
  const text = '{"s":"x","n":1.5,"b":false,"z":null,"o":{"a":[1]},"l":[{"id":7},{"id":8}]}'
  const x = exchange({ body: Buffer.from(text) })
  const at = (path: string) => jsonLanguage.compile(path, {})(x)
  assert.equal(at('$.s'), 'x')
  assert.equal(at('$.n'), 1.5)
  assert.equal(at('$.b'), false)
  assert.equal(at('$.z'), null)
  assert.equal(at('$.nothing'), null)
  assert.equal(at('$.o'), '{"a":[1]}')
  assert.equal(at('$.l[*].id'), 7)
  assert.equal(at('$.l[?@.id > 7].id'), 8)
})

test('conditions fail for bodies that are not JSON, coded or in another charset', () => {
  const ask = jsonLanguage.compile('$.a', {})
  const refused = (x: Parameters<typeof ask>[0], reason: RegExp) => assert.throws(() => ask(x), reason)
  refused(exchange({ body: Buffer.from('<a/>') }), /not JSON/)
  assert.equal(ask(exchange({ body: Buffer.alloc(0) })), null)
  assert.equal(ask(exchange()), null)
  refused(exchange({ body: Buffer.from('{}'), headers: ['content-encoding', 'gzip'] }), /content coding/)
  const type = ['content-type', 'application/json; charset="UTF-16"']
  refused(exchange({ body: Buffer.from('{}'), headers: type }), /charset/)
  // A reader that uses the second parameter, or ends the quoted one elsewhere, would read another document.
  for (const hidden of [
    'a="; charset=utf-8"; charset=utf-16',
    'charset=utf-8; charset=utf-7',
    "charset*=x''utf-7",
  ]) {
    const two = ['content-type', `application/json; ${hidden}`]
    refused(exchange({ body: Buffer.from('{}'), headers: two }), /charset/)
  }
  const fine = ['content-type', 'application/json;charset=utf-8', 'content-encoding', 'identity']
  assert.equal(ask(exchange({ body: Buffer.from('{"a":1}'), headers: fine })), 1)
})
