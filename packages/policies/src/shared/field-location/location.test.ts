import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import fc from 'fast-check'
import { exchange } from '../../testing.js'
import { Draft } from './draft.js'
import { valueAt, withoutValue, withValue } from './json-text.js'
import { compileLocation, namesOf } from './location.js'

const TEXT =
  '{ "n": 12345678901234567890, "a": [ {"x":"1"}, {"x" : "2"} ], "e\\u0061": 1.0,"o":{ } , "s":"a\\"}," }'

test('a value in JSON is found and changed, and every other byte stays', () => {
  const at = (path: (string | number)[]): string | null => {
    const span = valueAt(TEXT, path)
    return span === null ? null : TEXT.slice(span.start, span.end)
  }
  assert.equal(at(['n']), '12345678901234567890')
  assert.equal(at(['a', 1, 'x']), '"2"')
  assert.equal(at(['ea']), '1.0')
  assert.equal(at(['s']), '"a\\"},"')
  assert.equal(at(['a', 2]), null)
  assert.equal(at(['n', 'x']), null)
  assert.equal(at(['missing']), null)
  assert.equal(at(['constructor']), null)
  assert.equal(withValue(TEXT, ['a', 1, 'x'], '7'), TEXT.replace('"2"', '7'))
  assert.equal(withValue(TEXT, ['o', 'k'], '7'), TEXT.replace('{ }', '{ "k":7}'))
  assert.equal(withValue('{"a":1}', ['b'], '2'), '{"a":1,"b":2}')
  assert.equal(withValue('[1]', [1], '2'), null)
  assert.equal(withValue('{"a":1}', ['a', 'b'], '2'), null)
  assert.equal(withoutValue('{"a":1, "b":2 ,"c":3}', ['a']), '{ "b":2 ,"c":3}')
  assert.equal(withoutValue('{"a":1, "b":2 ,"c":3}', ['b']), '{"a":1, "c":3}')
  assert.equal(withoutValue('{"a":1, "b":2 ,"c":3 }', ['c']), '{"a":1, "b":2 }')
  assert.equal(withoutValue('{"a":1}', ['a']), '{}')
  assert.throws(() => valueAt('{"a":1,"\\u0061":2}', ['a']))
})

test('changes to any document are those that parsing and writing would make', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  fc.assert(
    fc.property(
      fc.dictionary(name, fc.jsonValue({ maxDepth: 3 })),
      name,
      fc.boolean(),
      (document, key, isSpaced) => {
        const text = JSON.stringify(document, null, isSpaced ? 2 : 0)
        const parsed = JSON.parse(text) as typeof document
        const changed = withValue(text, [key], '"new"')
        assert.deepEqual(JSON.parse(changed!), { ...parsed, [key]: 'new' })
        const { [key]: _, ...rest } = parsed
        assert.deepEqual(JSON.parse(withoutValue(text, [key])), rest)
      },
    ),
  )
})

test('deep and long documents take neither stack nor time', () => {
  const beforeMs = cpuMs()
  const deep = `{"x":${'['.repeat(200_000)}${']'.repeat(200_000)},"a":1}`
  assert.deepEqual(valueAt(deep, ['a']), { start: deep.length - 2, end: deep.length - 1 })
  const wide = `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":"\\"${i}"`).join(',')},"a":1}`
  assert.equal(wide.slice(valueAt(wide, ['a'])!.start), '1}')
  assert.ok(cpuMs() - beforeMs < 10_000)
})

function draft(json: string, headers: string[] = []): Draft {
  return new Draft(exchange({ headers, query: 'a=1&b=x%20y&b2=&d=1&d=2' }), 'request', Buffer.from(json))
}

function read(location: string, from: Draft): string | null {
  const bytes = compileLocation(location, 'request').read(from)
  return bytes === null ? null : Buffer.from(bytes).toString()
}

test('each kind of location is read', () => {
  const from = draft(TEXT, ['x-a', 'v', 'x-b', '', 'x-c', '1', 'x-c', '2'])
  from.x.setVar('tenant', 'ü')
  assert.equal(read('header.X-A', from), 'v')
  assert.equal(read('header.x-b', from), null)
  assert.equal(read('header.x-none', from), null)
  assert.throws(() => read('header.x-c', from), /more than one 'x-c'/)
  assert.equal(read('query.b', from), 'x y')
  assert.equal(read('query.b2', from), null)
  assert.throws(() => read('query.d', from), /duplicate/)
  assert.equal(read('vars.tenant', from), 'ü')
  assert.equal(read('vars.none', from), null)
  assert.equal(read('json.a[1].x', from), '2')
  assert.equal(read('json.a[0]', from), '{"x":"1"}')
  assert.equal(read('json.s', from), 'a"},')
  assert.equal(read('body', from), TEXT)
  assert.equal(read('json.a', draft('{"a":null}')), null)
  assert.equal(read('json.a', draft('{"a":""}')), null)
  assert.equal(read('json[1].a', draft('[0,{"a":false}]')), 'false')
})

test('each kind of location is written, when such bytes can stand there', () => {
  const into = draft('{"a":1}')
  const write = (location: string, text: string | Uint8Array, isJson = false): boolean =>
    compileLocation(location, 'request').write(into, Buffer.from(text as string), isJson)
  assert.ok(write('header.x-a', 'new'))
  assert.ok(!write('header.x-a', 'a\r\nx-evil: 1'))
  assert.ok(!write('header.x-a', 'ü'))
  assert.ok(!write('header.x-a', ' padded'))
  assert.ok(write('query.b', 'ü&='))
  assert.ok(!write('query.d', 'x'))
  assert.ok(write('vars.v', 'ü'))
  assert.ok(write('json.a', 'q"'))
  assert.ok(write('json.b', '{"c":1.0}', true))
  assert.ok(!write('json.b', '{"c":', true))
  assert.ok(!write('json.x.y', 'text'))
  assert.ok(!write('json.b', Buffer.from([0xff])))
  assert.equal(into.x.body, null)
  into.commit()
  assert.equal(Buffer.from(into.x.body!).toString(), '{"a":"q\\"","b":{"c":1.0}}')
  assert.deepEqual(into.x.headers, ['x-a', 'new'])
  assert.equal(into.x.query, 'a=1&b2=&d=1&d=2&b=%C3%BC%26%3D')
  assert.equal(into.x.vars?.get('v'), 'ü')
})

test('what was said about the bytes of a body goes with them, when all locations were read', () => {
  const about = ['content-digest', 'sha-256=:old:', 'digest', 'old', 'etag', '"old"', 'x-a', 'v']
  const changed = draft('{"a":1}', [...about])
  compileLocation('json.a', 'request').write(changed, Buffer.from('2'), true)
  assert.equal(read('header.content-digest', changed), 'sha-256=:old:')
  changed.commit()
  assert.deepEqual(changed.x.headers, ['x-a', 'v'])
  const same = draft('{"a":1}', [...about])
  compileLocation('header.x-a', 'request').write(same, Buffer.from('w'), false)
  same.commit()
  assert.deepEqual(same.x.headers, about.with(-1, 'w'))
  const described = draft('{"a":1}', [...about])
  compileLocation('header.Digest', 'request').write(described, Buffer.from('new'), false)
  compileLocation('json.a', 'request').remove(described)
  described.commit()
  assert.deepEqual(described.x.headers.toSorted(), ['digest', 'new', 'v', 'x-a'])
})

test('a body that cannot be read is not a body without the value', () => {
  assert.throws(() => read('json.a', draft('{"a":1')), { code: 'GW_BODY_UNPARSABLE' })
  assert.throws(() => read('json.a', draft('')), { code: 'GW_BODY_UNPARSABLE' })
  assert.throws(() => read('json.a', draft('{"a":1,"a":2}')), { code: 'GW_BODY_UNPARSABLE' })
  assert.throws(() => read('json.a', draft('{}', ['content-encoding', 'gzip'])), { code: 'GW_MEDIA_TYPE' })
  assert.throws(() => read('body', draft('x', ['content-encoding', 'GZIP'])), { code: 'GW_MEDIA_TYPE' })
  const latin = new Draft(exchange(), 'request', Buffer.from('{"a":"\u00fc"}', 'latin1'))
  assert.throws(() => read('json.a', latin), { code: 'GW_BODY_UNPARSABLE' })
})

test('texts that name no location are refused', () => {
  for (const text of [
    '',
    'header',
    'header.',
    'x.y',
    'json',
    'json.',
    'json.a..b',
    'json.a[x]',
    'json.a[1',
    'json.*',
    'json.a b',
    'query.a b',
    'header.a b',
    'header.host',
    'Body',
  ]) {
    assert.throws(() => compileLocation(text, 'request'), Error, text)
  }
  assert.throws(() => compileLocation('query.a', 'response'), /not a valid location in a response/)
})

test('the names of headers and parameters are what the traffic log can mask', () => {
  assert.deepEqual(namesOf(['header.X-Clear', 'query.card', 'json.a', 'body', 'vars.x']), ['X-Clear', 'card'])
})
