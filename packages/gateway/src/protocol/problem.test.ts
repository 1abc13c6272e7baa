import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchange, refusal } from '@sluice/core'
import { renderProblem } from './problem.js'

const PROBLEM = refusal('GW_BODY_TOO_LARGE', 'send less than <1 MB> & "retry"').problem!
const XML_DETAIL = 'send less than &lt;1 MB&gt; &amp; &quot;retry&quot;'

function exchange(...headers: string[]): Exchange {
  return Object.assign(new Exchange(), { id: 'the-id', headers })
}

test('a problem is RFC 9457 JSON with the code and the id of the request', () => {
  const { contentType, text } = renderProblem(exchange(), 413, PROBLEM)
  assert.equal(contentType, 'application/problem+json')
  assert.deepEqual(JSON.parse(text), {
    type: 'about:blank',
    title: 'Body too large',
    status: 413,
    detail: 'send less than <1 MB> & "retry"',
    code: 'GW_BODY_TOO_LARGE',
    requestId: 'the-id',
  })
})

test('a SOAP 1.1 request gets a SOAP 1.1 fault', () => {
  for (const type of ['text/xml', 'text/xml; charset=utf-8', 'Text/XML ;charset=utf-8']) {
    const { contentType, text } = renderProblem(
      exchange('content-type', type, 'soapaction', '""'),
      413,
      PROBLEM,
    )
    assert.equal(contentType, 'text/xml; charset=utf-8')
    assert.match(text, /<faultcode>soap:Client<\/faultcode><faultstring>Body too large<\/faultstring>/)
    assert.ok(text.includes(`<message xmlns="">${XML_DETAIL}</message>`), text)
    assert.ok(text.includes('<requestId xmlns="">the-id</requestId>'), text)
  }
})

test('a SOAP 1.2 request gets a SOAP 1.2 fault', () => {
  for (const type of ['application/soap+xml', 'application/SOAP+XML; action="a"']) {
    const { contentType, text } = renderProblem(exchange('content-type', type), 503, PROBLEM)
    assert.equal(contentType, 'application/soap+xml; charset=utf-8')
    assert.match(text, /<env:Value>env:Receiver<\/env:Value>/)
    assert.ok(text.includes(XML_DETAIL), text)
  }
})

test('the fault says if sending the request again can help', () => {
  const of = (status: number) =>
    renderProblem(exchange('content-type', 'text/xml', 'soapaction', ''), status, PROBLEM).text
  assert.match(of(499), /soap:Client/)
  assert.match(of(500), /soap:Server/)
})

test('XML that is not SOAP, and similar types, get JSON', () => {
  const requests = [
    ['content-type', 'text/xml'],
    ['soapaction', 'a'],
    ['content-type', 'text/xml-patch', 'soapaction', 'a'],
    ['content-type', 'application/soap+xmlish'],
    ['content-type', ''],
  ]
  for (const headers of requests)
    assert.equal(
      renderProblem(exchange(...headers), 400, PROBLEM).contentType,
      'application/problem+json',
      headers.join(),
    )
})
