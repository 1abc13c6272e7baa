import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '@sluice/core/testing'
import fc from 'fast-check'
import { type DecodePass, readingsOf } from './decode.js'
import { lenientUtf8 } from './lenient-utf8.js'

const ALL: readonly DecodePass[] = ['url', 'html', 'unicode', 'base64', 'comments', 'spaces']

function last(text: string, rounds = 3): string {
  return readingsOf(text, ALL, rounds).at(-1)!
}

test('every obfuscation of the same text is decoded', () => {
  for (const written of [
    '%3Cscript%3E',
    '%253Cscript%253E',
    '%u003cscript%u003E',
    '&lt;script&gt;',
    '&#60;script&#x3E;',
    '&#060script&#x0000003e;',
    '&LT;script&Gt;',
    '&#x000000000000000000003c;script&#000000000000000000062;',
    '&#X003Cscript&#0062',
    '&lt\u200bscript&gt',
    '&LTscript&GT',
    '&amp;lt;script&amp;gt;',
    '&amplt;script&ampgt;',
    '<s&shy;cr&zwj;i&ZeroWidthSpace;pt>',
    '%26%23x3c%3bscript%26%2362%3b',
    '\\u003cscript\\u003e',
    '\\u{3c}script\\x3e',
    '%26lt%3bscript%26gt%3b',
    '\uff1cscript\uff1e',
    '<scr\u0000ipt>',
    '<scr%00ipt>',
    '<scr\u200bipt>',
    '<scr\u202eipt>',
    '<scr\u034fipt>',
    '<scr\ufe0fipt>',
    '<scr\u{e0041}ipt>',
    '<scr\u{e0001}ip\u{e0100}t>',
    '<scr\u180b\u2066\u115fipt>',
    '\u{e003c}\u{e0073}\u{e0063}\u{e0072}\u{e0069}\u{e0070}\u{e0074}\u{e003e}',
    '<\u{1d4ec}ript>'.replace('\u{1d4ec}', '\u{1d4fc}\u{1d4ec}'),
    '\ufe64script\ufe65',
    'PHNjcmlwdD4=',
    'PHNjcmlwdD4',
    'PHNjcmlwdD4gICAgICAgICA=',
  ]) {
    const readings = readingsOf(written, ALL, 3).map((reading) => reading.trim())
    assert.ok(readings.includes('<script>'), written)
  }
})

test('a scheme that runs what follows is found however it is cut', () => {
  for (const written of [
    'java&Tab;script&colon;go',
    'java&NewLine;script:go',
    'j&#10;a&#x000d;v\tascript\n:go',
    'java%26Tab;script:go',
    'java\\tscript\\u003ago',
    'j%0aavascript%09:go',
    '&#0000106;avascript&#x3ago',
    'javascript&COLON;go',
  ]) {
    for (const passes of [ALL, ['url', 'html', 'unicode'] as const])
      assert.ok(
        readingsOf(written, passes, 3).some((text) => text.includes('javascript:go')),
        written,
      )
  }
  assert.deepEqual(readingsOf('java\nscript, data\nbase', ['html'], 3), ['java\nscript, data\nbase'])
})

test('every named reference of HTML that means a character of ASCII is read', () => {
  const names =
    'Tab NewLine excl quot QUOT num dollar percnt amp AMP apos lpar rpar ast midast plus comma period sol colon semi lt LT ' +
    'equals gt GT quest commat lbrack lsqb bsol rbrack rsqb Hat lowbar UnderBar DiacriticalGrave grave lbrace lcub verbar ' +
    'vert VerticalLine rbrace rcub'
  const meant = names.split(' ').map((name) => last(`a&${name};a`, 1))
  for (const [i, text] of meant.entries()) assert.match(text, /^a[!-/:-@[-`{-~\s]a$/, names.split(' ')[i])
})

test('short base64 is read where it is a whole value', () => {
  for (const written of [
    '{"a":"PHg+"}',
    '{ "a": [ "PHg+", 1 ] }',
    '{"PHg+":1}',
    "{'a':'PHg+'}",
    'b=1&a=PHg%2B',
    'a=PHg-&c=2',
    '<a>PHg+</a>',
    '<a b="PHg+"/>',
  ])
    assert.ok(
      readingsOf(written, ALL, 3).some((text) => text.includes('<x>')),
      written,
    )
  assert.ok(!readingsOf('the word PHg+ in a sentence', ALL, 3).some((text) => text.includes('<x>')))
})

test('overlong UTF-8 is decoded', () => {
  assert.equal(last('%c0%ae%c0%ae%c0%af'), '../')
  assert.equal(last('%e0%80%af%f0%80%80%af%f8%80%80%80%af%fc%80%80%80%80%af'), '////')
  assert.equal(last('%c3%bc'), 'ü')
  assert.equal(last('%ff%c3'), 'ÿÃ')
  assert.equal(lenientUtf8(Buffer.from([0xfd, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf])), '\ufffd')
})

test('comments and spaces are one space, and conditional comments are what they run', () => {
  assert.equal(last('union/**/select'), 'union select')
  assert.equal(last('union/*!50000select*/ 1'), 'union select 1')
  assert.equal(last('union \t\r\n\u00a0 select'), 'union select')
  assert.equal(last('union\\nselect'), 'union select')
  assert.equal(last('a/* never closed'), 'a ')
})

test('comments, instructions and CDATA sections of XML split no text', () => {
  for (const written of [
    '41<!-- -->11',
    '41<![CDATA[11]]>',
    '<![CDATA[4]]><![CDATA[111]]>',
    '4<?x y?>111',
    '4<!---->1<![CDATA[1]]>1',
    '4&lt;!-- --&gt;111',
    '41<!-- x --><![CDATA[11',
  ]) {
    assert.ok(readingsOf(written, ['html'], 3).includes('4111'), written)
    assert.ok(readingsOf(written, ALL, 3).includes('4111'), written)
  }
  assert.ok(readingsOf('<!-- hidden -->', ALL, 3).includes('<!-- hidden -->'), 'and are read themselves')
})

test('base64 within other text is read as well, words and numbers stay', () => {
  assert.ok(readingsOf('{"a":"JyB1bmlvbiBzZWxlY3QgMQ=="}', ALL, 3).includes(`{"a":"' union select 1"}`))
  for (const text of [
    'internationalization',
    '1234567890123456',
    'a/path/to/something/else',
    'deadbeefdeadbeef',
  ]) {
    assert.ok(
      readingsOf(`x ${text} y`, ALL, 3).every((reading) => reading === `x ${text} y`),
      text,
    )
  }
})

test('rounds are bounded, and a text that is plain has one reading', () => {
  assert.deepEqual(readingsOf('plain 100% text, a & b', ALL, 3), ['plain 100% text, a & b'])
  assert.deepEqual(readingsOf('%2525253c', ['url'], 2), ['%2525253c', '%25253c', '%253c'])
  assert.equal(readingsOf('a', [], 3).length, 1)
})

test('no reading is longer than three times the text, whatever that is', () => {
  const piece = fc.constantFrom(
    '%',
    '%25',
    '%c0',
    '&',
    '&lt;',
    '&#x3c',
    '\\',
    '\\u00',
    '/*',
    '*/',
    '!',
    'a',
    ' ',
    '3c',
    '\u2121',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.string({ unit: 'binary' }), (pieces, rest) => {
      const text = pieces.join('') + rest
      for (const reading of readingsOf(text, ALL, 5)) assert.ok(reading.length <= 3 * text.length)
    }),
    { numRuns: 2000 },
  )
})

test('the longest disguises take linear time', () => {
  for (const unit of [
    '%',
    '%25',
    '&',
    '&#',
    '&#x',
    '\\',
    '\\u',
    '/*',
    '/*!',
    '*/',
    '%c0',
    ' \t',
    '\u200b',
    'QUFB',
  ]) {
    const text = unit.repeat(250_000 / unit.length)
    const beforeMs = cpuMs()
    readingsOf(text, ALL, 5)
    assert.ok(cpuMs() - beforeMs < 10_000, unit)
  }
})
