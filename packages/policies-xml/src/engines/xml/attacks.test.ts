import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { UnreadableBody } from '@sluice/core'
import { cpuMs } from '@sluice/core/testing'
import { parseXml } from './gate.js'
import { loadLibxml } from './libxml.js'
import { openXmlBytes } from './memory.js'

/** A document that must be refused, and the message. */
interface Attack {
  readonly name: string
  readonly body: string | Uint8Array
  readonly refusal: RegExp
}

const DOCTYPE = /DOCTYPE, which is not allowed/
const NOT_UTF8 = /bytes do not match its encoding|character in it is not allowed/

/** Entities on ten levels, each ten times as long as the previous one. */
function laughs(): string {
  const levels = Array.from({ length: 10 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`)
  return `<!DOCTYPE a [<!ENTITY e0 "ha">${levels.join('')}]><a>&e10;</a>`
}

function attributes(count: number): string {
  return Array.from({ length: count }, (_, i) => ` a${i}="1"`).join('')
}

function namespaces(count: number): string {
  return Array.from({ length: count }, (_, i) => ` xmlns:n${i}="urn:${i}"`).join('')
}

function utf16be(text: string): Uint8Array {
  return Buffer.from(text, 'utf16le').swap16()
}

function ucs4(text: string): Uint8Array {
  return Buffer.concat([...text].map((letter) => Buffer.from([0, 0, 0, letter.charCodeAt(0)])))
}

const ATTACKS: readonly Attack[] = [
  {
    name: 'an external entity that is a file',
    body: '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    refusal: DOCTYPE,
  },
  {
    name: 'an external entity that is a server',
    body: '<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]><a>&x;</a>',
    refusal: DOCTYPE,
  },
  {
    name: 'a parameter entity',
    body: '<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;]><a/>',
    refusal: DOCTYPE,
  },
  { name: 'an external DTD', body: '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', refusal: DOCTYPE },
  { name: 'a DOCTYPE that says nothing', body: '<?xml version="1.0"?>\n<!DOCTYPE a><a/>', refusal: DOCTYPE },
  { name: 'a DOCTYPE after a comment', body: '<!-- > --><!DOCTYPE a><a/>', refusal: DOCTYPE },
  { name: 'a DOCTYPE in UTF-16LE', body: Buffer.from('\ufeff<!DOCTYPE a><a/>', 'utf16le'), refusal: DOCTYPE },
  { name: 'a DOCTYPE in UTF-16BE', body: utf16be('\ufeff<!DOCTYPE a><a/>'), refusal: DOCTYPE },
  {
    name: 'a DOCTYPE in UTF-16LE without a byte order mark',
    body: Buffer.from('<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a><a/>', 'utf16le'),
    refusal: DOCTYPE,
  },
  { name: 'a DOCTYPE in UCS-4', body: ucs4('<!DOCTYPE a><a/>'), refusal: /does not begin like XML/ },
  {
    name: 'a DOCTYPE in UTF-7',
    body: '<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE a+AD4-<a/>',
    refusal: NOT_UTF8,
  },
  {
    name: 'an encoding that switches between alphabets',
    body: '<?xml version="1.0" encoding="ISO-2022-JP"?><a/>',
    refusal: /encoding/,
  },
  { name: 'billion laughs', body: laughs(), refusal: DOCTYPE },
  {
    name: 'quadratic blowup',
    body: `<!DOCTYPE a [<!ENTITY x "${'x'.repeat(50_000)}">]><a>${'&x;'.repeat(50_000)}</a>`,
    refusal: DOCTYPE,
  },
  { name: 'an entity that nobody declared', body: '<a>&x;</a>', refusal: /a reference is not valid/ },
  {
    name: '100,000 levels',
    body: '<a>'.repeat(100_000) + '</a>'.repeat(100_000),
    refusal: /deeper than 250/,
  },
  { name: '2,500,000 levels that never end', body: '<a>'.repeat(2_500_000), refusal: /deeper than 250/ },
  {
    name: 'levels in UTF-16',
    body: Buffer.from(`\ufeff${'<a>'.repeat(100_000)}`, 'utf16le'),
    refusal: /deeper than 250/,
  },
  { name: '100,000 attributes', body: `<a${attributes(100_000)}/>`, refusal: /more than 256 attributes/ },
  {
    name: '100,000 namespace declarations',
    body: `<a${namespaces(100_000)}/>`,
    refusal: /more than 256 attributes/,
  },
  {
    name: 'a million elements',
    body: `<a>${'<b/>'.repeat(1_000_000)}</a>`,
    refusal: /more than 100000 elements and attributes/,
  },
  {
    name: 'attributes on many elements',
    body: `<a>${`<b${attributes(200)}/>`.repeat(1000)}</a>`,
    refusal: /more than 100000/,
  },
  { name: 'a million comments', body: `<a>${'<!---->'.repeat(1_000_000)}</a>`, refusal: /more than 100000/ },
  {
    name: 'a million instructions',
    body: `<a>${'<?b?>'.repeat(1_000_000)}</a>`,
    refusal: /more than 100000/,
  },
  {
    name: 'prefixes that nobody declared',
    body: `<a>${'<x:b/>'.repeat(90_000)}</a>`,
    refusal: /namespace prefix is not declared/,
  },
  { name: 'a text of 11 MB', body: `<a>${'x'.repeat(11 << 20)}</a>`, refusal: /larger than 10485760 bytes/ },
  { name: 'a name of 60,000 letters', body: `<${'a'.repeat(60_000)}/>`, refusal: /too long/ },
  { name: 'a tag that never ends', body: `<a b="${'x'.repeat(1_000_000)}`, refusal: /not well-formed/ },
  { name: 'quotes that never match', body: `<a ${`'"`.repeat(500_000)}`, refusal: /not well-formed/ },
  { name: 'comments that never end', body: '<!--'.repeat(250_000), refusal: /not well-formed/ },
  { name: 'sections that never end', body: `<a>${'<![CDATA['.repeat(100_000)}`, refusal: /not well-formed/ },
  { name: 'lonely angle brackets', body: '<'.repeat(1_000_000), refusal: /not well-formed|deeper|more than/ },
  { name: 'elements that overlap', body: '<a><b></a></b>', refusal: /do not match \(line 1, column 11\)/ },
  { name: 'elements that stay open', body: '<a>\n<b>', refusal: /before all of its elements are closed/ },
  { name: 'two root elements', body: '<a/><b/>', refusal: /there is content after the root element/ },
  { name: 'an attribute twice', body: '<a b="1" b="2"/>', refusal: /the same attribute twice/ },
  {
    name: 'an attribute twice by two prefixes',
    body: '<a xmlns:p="u:1" xmlns:q="u:1" p:b="1" q:b="2"/>',
    refusal: /the same attribute twice/,
  },
  { name: 'invalid UTF-8', body: Buffer.from('<a>\xff\xc0\x80</a>', 'latin1'), refusal: NOT_UTF8 },
  { name: 'overlong UTF-8', body: Buffer.from('\xc0\xbca/>', 'latin1'), refusal: /not well-formed/ },
  { name: 'a surrogate in UTF-8', body: Buffer.from('<a>\xed\xa0\x80</a>', 'latin1'), refusal: NOT_UTF8 },
  { name: 'a null byte in the text', body: '<a>\0</a>', refusal: NOT_UTF8 },
  {
    name: 'a null byte after the root',
    body: '<a/>\0<!DOCTYPE a>',
    refusal: /DOCTYPE|content after the root/,
  },
  { name: 'a reference to a null byte', body: '<a>&#0;</a>', refusal: /a reference is not valid/ },
  { name: 'nothing', body: '', refusal: /empty where an XML document is expected/ },
  { name: 'white space', body: ' \n ', refusal: /does not begin with an element/ },
  { name: 'JSON', body: '{"a":1}', refusal: /does not begin with an element/ },
  { name: 'a secret', body: '<secret>hunter2</hunter2>', refusal: /do not match/ },
]

before(() => loadLibxml())

for (const { name, body, refusal } of ATTACKS) {
  test(`${name} is refused, at once and without quoting it`, () => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    const beforeMs = cpuMs()
    assert.throws(() => parseXml(bytes), isRefusal(refusal))
    // Limits for a busy machine. The actual cost is measured elsewhere.
    assert.ok(cpuMs() - beforeMs < 10_000)
    assert.equal(openXmlBytes(), 0)
  })
}

function isRefusal(words: RegExp): (problem: unknown) => boolean {
  return (problem) => {
    assert.ok(problem instanceof UnreadableBody, String(problem))
    assert.equal(problem.code, 'GW_BODY_UNPARSABLE')
    assert.match(problem.message, words)
    assert.ok(problem.message.length < 140, problem.message)
    assert.doesNotMatch(problem.message, /hunter2|secret|passwd|xxx|ns|\n/)
    return true
  }
}

test('all attacks together take less than 100 MB that stays', () => {
  const before = process.memoryUsage().rss
  for (let i = 0; i < 3; i++) {
    for (const { body } of ATTACKS) {
      assert.throws(() => parseXml(typeof body === 'string' ? Buffer.from(body) : body))
    }
  }
  assert.ok(process.memoryUsage().rss - before < 100 << 20)
})
