import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactedBody, redactedRecord, rule } from './testing.js'

const NAMES = rule({ names: ['Password', 'card'] })
const CARD = rule({ type: 'card' })
const EMAIL = rule({ type: 'email' })

function assertBodies(cases: Readonly<Record<string, string>>, ...rules: readonly ReturnType<typeof rule>[]) {
  for (const [text, expected] of Object.entries(cases)) assert.equal(redactedBody(text, ...rules), expected)
}

test('members of JSON are found by name at any depth, whatever their values are', () => {
  assertBodies(
    {
      '{"a":[{"PASSWORD":"x\\"y","b":1}]}': '{"a":[{"PASSWORD":"***","b":1}]}',
      '{"card":{"n":[1,{"x":"}"}]},"t":2}': '{"card":"***","t":2}',
      '{"password" : 1234 , "b":true}': '{"password" : "***" , "b":true}',
      '{"pass\\u0077ord":"x"}': '{"pass\\u0077ord":"***"}',
      '[{"password":null},{"passwords":"x"}]': '[{"password":"***"},{"passwords":"x"}]',
      '{"password":""}\n{"password":"x"}': '{"password":"***"}\n{"password":"***"}',
    },
    NAMES,
  )
})

test('text within JSON is scanned in its own format', () => {
  assertBodies(
    {
      '{"a":"{\\"password\\":\\"x\\"}"}': '{"a":"{\\"password\\":\\"***\\"}"}',
      '{"a":"http://b/c?password=x&d=1"}': '{"a":"http://b/c?password=***&d=1"}',
      '{"query":"{ login(password: \\"x\\", u: 1) }"}': '{"query":"{ login(password: \\"***\\", u: 1) }"}',
      '{"query":"mutation { login(password: \\"x\\") }"}':
        '{"query":"mutation { login(password: \\"***\\") }"}',
      '"{\\"pass\\\\u0077ord\\":\\"x\\"}"': '"{\\"pass\\\\u0077ord\\":\\"***\\"}"',
      '{"a":"<r><password>x</password></r>"}': '{"a":"<r><password>***</password></r>"}',
    },
    NAMES,
  )
})

test('names are found in truncated and invalid JSON', () => {
  assertBodies(
    {
      '{"password":"secr': '{"password":"***',
      '{"a":1,"card":{"n":"41': '{"a":1,"card":"***"',
      '{"password":12': '{"password":"***"',
      '{"a":"b\\': '{"a":"b\\',
      "{password: 'x', b: 2}": "{password: '***', b: 2}",
      '{"password":x y z,"a":1}': '{"password":"***","a":1}',
      '[INFO] password=abc\nnext': '[INFO] password=***\nnext',
      ')]}\',\n{"password":"x"}': ')]}\',\n{"password":"***"}',
      'data: {"password":"x"}\n\n': 'data: {"password":"***"}\n\n',
    },
    NAMES,
  )
})

test('members are deleted with their comma, so that JSON stays JSON', () => {
  const gone = rule({ names: ['a', 'b'] }, { do: 'delete' })
  const cases = {
    '{"a":1,"b":2,"x":0}': '{"x":0}',
    '{"x":0,"a":1,"b":2}': '{"x":0}',
    '{"a":1,"x":0,"b":{"q":1}}': '{"x":0}',
    '{"x":0 , "a":"," }': '{"x":0 }',
    '{"a":1,"b":2}': '{}',
    '{"x":[{"a":1},{"b":2,"c":3}]}': '{"x":[{},{"c":3}]}',
  }
  for (const [text, expected] of Object.entries(cases)) {
    assert.deepEqual(JSON.parse(redactedBody(text, gone)), JSON.parse(expected), text)
  }
})

test('elements and attributes of XML are found by name, with a prefix or without', () => {
  assertBodies(
    {
      '<a><s:Password x="1">p<![CDATA[<q>]]></s:Password>t</a>': '<a><s:Password x="1">***</s:Password>t</a>',
      '<a card="12" b=\'2\'/>': '<a card="***" b=\'2\'/>',
      '<card><card>1</card><n>2</n></card><x>3</x>': '<card>***</card><x>3</x>',
      '<a><card/><b>1</b></a>': '<a><card/><b>1</b></a>',
      '<a><password>sec': '<a><password>***',
      '<a><x password="sec': '<a><x password="***',
      '<!-- <password>x</password> --><a/>': '<!-- <password>***</password> --><a/>',
    },
    NAMES,
  )
  const gone = rule({ names: ['a', 'b'] }, { do: 'delete' })
  assert.equal(redactedBody('<r><a>1</a><x b="2" c="3"/></r>', gone), '<r><x c="3"/></r>')
})

test('parameters of forms are found by name and by part of a name', () => {
  assertBodies(
    {
      'a=1&password=x%20y&b=2': 'a=1&password=***&b=2',
      'user%5Bpassword%5D=x&user.card=y': 'user%5Bpassword%5D=***&user.card=***',
      'pass%77ord=cut%2': 'pass%77ord=***',
    },
    NAMES,
  )
  const gone = rule({ names: ['a', 'b'] }, { do: 'delete' })
  assertBodies({ 'a=1&b=2&x=3': 'x=3', 'x=1&a=2&b=3': 'x=1', 'a=1': '' }, gone)
})

test('a form whose type says so may hold spaces, and may look like something else', () => {
  const form = (text: string): string => {
    const record = { req: { ct: 'application/x-www-form-urlencoded' }, body: { req_in: { text } } }
    return redactedRecord<typeof record>(record, NAMES).body.req_in.text
  }
  assert.equal(form('password=my secret&a=b c'), 'password=***&a=b c')
  assert.equal(form('{x=1&password=abc'), '{x=1&password=***')
})

test('parts of a multipart body are found by name, and those that are cut', () => {
  const part = (name: string, text: string) =>
    `--b1\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
  assert.equal(
    redactedBody(`${part('password', 'a\r\nb')}${part('x', '{"card":1}')}--b1--\r\n`, NAMES),
    `${part('password', '***')}${part('x', '{"card":"***"}')}--b1--\r\n`,
  )
  assert.equal(
    redactedBody(`${part('x', '1')}${part('password', 'sec').slice(0, -2)}`, NAMES),
    `${part('x', '1')}${part('password', '***').slice(0, -2)}`,
  )
})

test('values are found by type in every format, however they are written', () => {
  assertBodies(
    {
      '{"n":4111111111111111,"m":"a\\u0040b.com"}': '{"n":"***","m":"***"}',
      '{"john@example.com":[{"x":"see 4111-1111-1111-1111!"}]}': '{"***":[{"x":"see ***!"}]}',
      '<a b="4111 1111 1111 1111">a&#64;b.com</a>': '<a b="***">***</a>',
      'mail=a%40b.com&n=4111+1111+1111+1111': 'mail=***&n=***',
      'pay 4111 1111 1111 1111, mail a@b.com': 'pay ***, mail ***',
      '[x] 4111 1111 1111 1111': '[x] ***',
    },
    CARD,
    EMAIL,
  )
})

test('a truncated value is masked', () => {
  const record = (truncated: boolean) => ({ body: { req_in: { text: '{"n":"4111 1111 1', truncated } } })
  const text = (truncated: boolean) =>
    redactedRecord<ReturnType<typeof record>>(record(truncated), CARD).body.req_in.text
  assert.deepEqual([text(true), text(false)], ['{"n":"***', '{"n":"4111 1111 1'])
})

test('a regex works on the text; of one with a group, the group is the value', () => {
  const pin = rule({ regex: '"pin":"(\\d+)"' }, { shape: { kind: 'keepLast', count: 2 } })
  assert.equal(redactedBody('{"pin":"12345","q":"12345"}', pin), '{"pin":"***45","q":"12345"}')
  assert.equal(redactedBody('a-77-b', rule({ regex: '\\d*' }, { do: 'delete' })), 'a--b')
})

test('visible parts of masked values are checked by type rules', () => {
  const first = rule({ names: ['mail'] }, { shape: { kind: 'maskFirst', count: 2 } })
  assert.equal(redactedBody('{"mail":"john@example.com"}', first), '{"mail":"**hn@example.com"}')
  assert.equal(redactedBody('{"mail":"john@example.com"}', first, EMAIL), '{"mail":"*****"}')
})

test('masks keep or hide as many characters as they say, and all of a value that is not longer', () => {
  const masked = (text: string, kind: 'keepFirst' | 'keepLast' | 'maskFirst') =>
    JSON.parse(
      redactedBody(JSON.stringify({ x: text }), rule({ names: ['x'] }, { shape: { kind, count: 4 } })),
    ).x
  assert.deepEqual(
    (['keepFirst', 'keepLast', 'maskFirst'] as const).map((kind) => masked('a😀cdef', kind)),
    ['a😀cd***', '***cdef', '****ef'],
  )
  for (const kind of ['keepFirst', 'keepLast', 'maskFirst'] as const)
    assert.equal(masked('😀bcd', kind), '***')
})

test('texts nested too deeply are rejected', () => {
  let text = '{"password":"x"}'
  for (let i = 0; i < 6; i++) text = JSON.stringify({ a: text })
  assert.throws(() => redactedBody(text, NAMES))
})
