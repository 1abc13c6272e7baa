import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Step, UnreadableBody } from '@sluice/core'
import { plant } from '@sluice/policies/attacks/testing/planted'
import { exchange, testEnv } from '@sluice/policies/testing'
import { xsd } from '../content/xsd/policy.js'
import { parseXml } from '../engines/xml/gate.js'
import { loadLibxml } from '../engines/xml/libxml.js'
import { openXmlBytes } from '../engines/xml/memory.js'
import { compileNodes, compileValue } from '../engines/xml/xpath.js'

/**
 * Attacks of documents and schemas on libxml2, as the parser, XPath and `xsd` use it. The refusal of DOCTYPE and of
 * documents that are too deep or too large is tested in xml/attacks.test.ts.
 */

const planted = await plant()
const addressed = (text: string): string =>
  text.replaceAll('FOLDER', planted.folder).replaceAll('ORIGIN', planted.origin)

before(() => loadLibxml())

const BODIES: readonly (readonly [name: string, body: string])[] = [
  ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file://FOLDER/secret.txt">]><a>&x;</a>'],
  ['an entity of a server', '<!DOCTYPE a [<!ENTITY x SYSTEM "ORIGIN/">]><a>&x;</a>'],
  ['a parameter entity', '<!DOCTYPE a [<!ENTITY % p SYSTEM "file://FOLDER/secret.dtd"> %p;]><a>&x;</a>'],
  ['a DTD of a server', '<!DOCTYPE a SYSTEM "ORIGIN/"><a/>'],
  [
    'XInclude',
    '<a xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="file://FOLDER/secret.txt" parse="text"/></a>',
  ],
  ['a catalog', '<?oasis-xml-catalog catalog="ORIGIN/"?><a/>'],
  ['a stylesheet', '<?xml-stylesheet href="ORIGIN/"?><a/>'],
  [
    'the location of a schema',
    '<a xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:schemaLocation="urn:x ORIGIN/" i:noNamespaceSchemaLocation="file://FOLDER/secret.xsd"/>',
  ],
]

const ANY =
  '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"><xs:complexType mixed="true"><xs:sequence><xs:any processContents="lax" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:anyAttribute processContents="lax"/></xs:complexType></xs:element></xs:schema>'

for (const [name, body] of BODIES) {
  test(`a body with ${name} is refused or read without it, by the gate, XPath and xsd`, async (t) => {
    const bytes = Buffer.from(addressed(body))
    assert.doesNotMatch(valueIn(bytes), /hunter2/)
    const env = testEnv()
    t.after(() => env.close())
    const step = (await xsd.compile({ schemas: [{ inline: ANY }] }, env)) as Step
    for (const outcome of [await requestOf(step, bytes), await responseOf(step, bytes)])
      assert.doesNotMatch(outcome, /hunter2/)
    assert.equal(planted.requests(), 0)
    assert.equal(openXmlBytes(), 0)
  })
}

const XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
const schema = (content: string): string => `<xs:schema ${XS}>${content}<xs:element name="a"/></xs:schema>`

const SCHEMAS: readonly (readonly [name: string, text: string])[] = [
  ['xs:include of a file', schema('<xs:include schemaLocation="file://FOLDER/secret.xsd"/>')],
  ['xs:include of a path', schema('<xs:include schemaLocation="FOLDER/secret.xsd"/>')],
  ['xs:import of a server', schema('<xs:import namespace="urn:x" schemaLocation="ORIGIN/"/>')],
  ['xs:redefine of a file', schema('<xs:redefine schemaLocation="../../../../../FOLDER/secret.xsd"/>')],
  [
    'a location of a schema for itself',
    `<xs:schema ${XS} xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:schemaLocation="urn:x ORIGIN/"><xs:element name="a"/></xs:schema>`,
  ],
  [
    'an external entity',
    `<!DOCTYPE x [<!ENTITY x SYSTEM "file://FOLDER/secret.txt">]>${schema('<xs:annotation><xs:documentation>&x;</xs:documentation></xs:annotation>')}`,
  ],
  ['a DTD of a server', `<!DOCTYPE x SYSTEM "ORIGIN/">${schema('')}`],
  ['XInclude', schema('<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="ORIGIN/"/>')],
  [
    'a billion laughs',
    `<!DOCTYPE x [<!ENTITY a0 "ha">${Array.from({ length: 12 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')}]>${schema('<xs:annotation><xs:documentation>&a12;</xs:documentation></xs:annotation>')}`,
  ],
]

for (const [name, text] of SCHEMAS) {
  test(`a schema with ${name} is refused, or works without it`, async () => {
    const outcome = await requestUnder(addressed(text), Buffer.from('<a/>'))
    assert.doesNotMatch(outcome, /hunter2|haha/)
    assert.equal(planted.requests(), 0)
  })
}

test('an XPath of the document has no functions, variables or names that reach outside', () => {
  for (const path of [
    "document('file:///etc/passwd')",
    "doc('ORIGIN/')",
    "unparsed-text('/etc/passwd')",
    "d:evaluate('1')",
    "system-property('x')",
    '$process',
    'z:a',
    "id('x')/z:*",
  ]) {
    assert.throws(() => compileValue(path, {}), /not an XPath 1\.0 function|variable|prefix/, path)
    assert.throws(() => compileNodes(path, {}), /not an XPath 1\.0 function|variable|prefix/, path)
  }
})

test('an XPath that takes cubic time is refused, one that takes quadratic time is asked of small bodies only', () => {
  assert.throws(() => compileValue('//a//b//c', {}), /cubic time/)
  const value = compileValue('count(//a[. = //a/@b])', {})
  const view = parseXml(Buffer.from(`<r>${'<a b="1">x</a>'.repeat(40_000)}</r>`))
  try {
    assert.throws(() => value(view), UnreadableBody)
  } finally {
    view.close()
  }
})

/** Returns the text that XPath finds in a document, or why the document is unreadable. */
function valueIn(bytes: Uint8Array): string {
  try {
    const view = parseXml(bytes)
    try {
      return String(compileValue('string(/)', {})(view))
    } finally {
      view.close()
    }
  } catch (problem) {
    return String(problem)
  }
}

/** Returns the response to a body under a schema, or why the schema is refused. */
async function requestUnder(inline: string, body: Uint8Array): Promise<string> {
  const env = testEnv()
  try {
    return await requestOf((await xsd.compile({ schemas: [{ inline }] }, env)) as Step, body)
  } catch (problem) {
    return String(problem)
  } finally {
    env.close()
  }
}

async function requestOf(step: Step, body: Uint8Array): Promise<string> {
  const x = exchange({ method: 'POST', headers: ['content-type', 'application/xml'], body })
  const outcome = (await step.onRequest?.(x)) ?? (await step.onRequestBody?.(x, body)) ?? null
  x.views?.close()
  return JSON.stringify(outcome?.problem ?? null)
}

async function responseOf(step: Step, responseBody: Uint8Array): Promise<string> {
  const x = exchange({ status: 200, responseHeaders: ['content-type', 'application/xml'], responseBody })
  const outcome = (await step.onResponse?.(x)) ?? (await step.onResponseBody?.(x, responseBody)) ?? null
  x.views?.close()
  return JSON.stringify(outcome?.problem ?? null)
}
