import { type Exchange, headerValue, mediaType, type Problem } from '@sluice/core'

/** The body of an error response and its media type. */
export interface ProblemText {
  readonly contentType: string
  readonly text: string
}

/** Renders a problem as RFC 9457 JSON, or as a SOAP fault if the request was SOAP. */
export function renderProblem(x: Exchange, status: number, problem: Problem): ProblemText {
  const soap = soapVersion(x)
  if (soap === '1.1') return { contentType: 'text/xml; charset=utf-8', text: soap11Fault(x, status, problem) }
  if (soap === '1.2')
    return { contentType: 'application/soap+xml; charset=utf-8', text: soap12Fault(x, status, problem) }
  return { contentType: 'application/problem+json', text: json(x, status, problem) }
}

function json(x: Exchange, status: number, problem: Problem): string {
  return JSON.stringify({
    type: 'about:blank',
    title: problem.title,
    status,
    detail: problem.detail,
    code: problem.code,
    requestId: x.id,
    ...(x.trace === null ? {} : { traceId: x.trace.traceId }),
  })
}

/** Detects SOAP 1.1 by the SOAPAction field, and SOAP 1.2 by its media type. */
function soapVersion(x: Exchange): '1.1' | '1.2' | null {
  const type = mediaType(headerValue(x.headers, 'content-type') ?? '')
  if (type === 'application/soap+xml') return '1.2'
  return type === 'text/xml' && headerValue(x.headers, 'soapaction') !== null ? '1.1' : null
}

/** Renders a SOAP 1.1 fault (section 4.4). The fault code indicates if resending can help. */
function soap11Fault(x: Exchange, status: number, problem: Problem): string {
  const code = status < 500 ? 'Client' : 'Server'
  return (
    '<?xml version="1.0" encoding="UTF-8"?>' +
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault>' +
    `<faultcode>soap:${code}</faultcode><faultstring>${escapeXml(problem.title)}</faultstring>` +
    `<detail>${detailElements(x, problem)}</detail>` +
    '</soap:Fault></soap:Body></soap:Envelope>'
  )
}

/** Renders a SOAP 1.2 fault (part 1, section 5.4). */
function soap12Fault(x: Exchange, status: number, problem: Problem): string {
  const code = status < 500 ? 'Sender' : 'Receiver'
  return (
    '<?xml version="1.0" encoding="UTF-8"?>' +
    '<env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope"><env:Body><env:Fault>' +
    `<env:Code><env:Value>env:${code}</env:Value></env:Code>` +
    `<env:Reason><env:Text xml:lang="en">${escapeXml(problem.title)}</env:Text></env:Reason>` +
    `<env:Detail>${detailElements(x, problem)}</env:Detail>` +
    '</env:Fault></env:Body></env:Envelope>'
  )
}

function detailElements(x: Exchange, problem: Problem): string {
  return (
    `<code xmlns="">${problem.code}</code><message xmlns="">${escapeXml(problem.detail)}</message>` +
    `<requestId xmlns="">${escapeXml(x.id)}</requestId>` +
    (x.trace === null ? '' : `<traceId xmlns="">${x.trace.traceId}</traceId>`)
  )
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
