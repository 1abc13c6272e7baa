import { answer, type Reply } from '@sluice/core'
import { buildXml, element, type XmlPart } from '../../engines/xml/xml-builder.js'
import { NS } from './names.js'

/** Fault codes of WS-Security 1.1.1 section 12, with their texts from there. */
const FAULTS = {
  UnsupportedSecurityToken: 'An unsupported token was provided',
  UnsupportedAlgorithm: 'An unsupported signature or encryption algorithm was used',
  InvalidSecurity: 'An error was discovered processing the <wsse:Security> header',
  InvalidSecurityToken: 'An invalid security token was provided',
  FailedAuthentication: 'The security token could not be authenticated or authorized',
  FailedCheck: 'The signature or decryption was invalid',
  SecurityTokenUnavailable: 'Referenced security token could not be retrieved',
  MessageExpired: 'The message has expired',
} as const

/** Fault code without prefix. */
export type FaultCode = keyof typeof FAULTS

/** SOAP version of a message. */
export type SoapVersion = '1.1' | '1.2'

/** A message that violates the rules. Never leaves this policy. */
export class SecurityFault extends Error {
  readonly code: FaultCode

  /** @param reason for tests and debugging. Clients never see it. */
  constructor(code: FaultCode, reason: string) {
    super(reason)
    this.code = code
  }
}

type FaultReplies = Readonly<Record<FaultCode, Readonly<Record<SoapVersion, Reply>>>>

/** Creates the responses for every fault in both SOAP versions. */
export function faultReplies(): FaultReplies {
  const replies = Object.keys(FAULTS).map((name) => {
    const code = name as FaultCode
    return [code, { '1.1': soap11Reply(code), '1.2': soap12Reply(code) }] as const
  })
  return Object.fromEntries(replies) as FaultReplies
}

/**
 * Creates a SOAP 1.1 fault. Section 6.2 requires 500 for every fault. The WS-Security code is the fault code.
 */
function soap11Reply(code: FaultCode): Reply {
  const content = [element('faultcode', qualified(code)), element('faultstring', FAULTS[code])]
  const body = element('soap:Body', [element('soap:Fault', content, declaration(code))])
  const envelope = element('soap:Envelope', [body], { 'xmlns:soap': NS.soap11 })
  return faultReply(code, 500, 'text/xml; charset=utf-8', envelope)
}

/**
 * Creates a SOAP 1.2 fault. Part 2 section 7.5.2.2 requires 400 for sender faults. The WS-Security code is
 * the subcode.
 */
function soap12Reply(code: FaultCode): Reply {
  const subcode = element('env:Subcode', [element('env:Value', qualified(code))])
  const text = element('env:Text', FAULTS[code], { 'xml:lang': 'en' })
  const content = [
    element('env:Code', [element('env:Value', 'env:Sender'), subcode]),
    element('env:Reason', [text]),
  ]
  const body = element('env:Body', [element('env:Fault', content, declaration(code))])
  const envelope = element('env:Envelope', [body], { 'xmlns:env': NS.soap12 })
  return faultReply(code, 400, 'application/soap+xml; charset=utf-8', envelope)
}

function faultReply(code: FaultCode, status: number, contentType: string, envelope: XmlPart): Reply {
  const headers = ['x-gw-error', 'GW_WSS_FAILED', 'content-type', contentType]
  const problem = { code: 'GW_WSS_FAILED', title: 'WS-Security check failed', detail: FAULTS[code] } as const
  const body = buildXml(element('?xml', [], { version: '1.0', encoding: 'UTF-8' }), envelope)
  return { ...answer(status, headers, Buffer.from(body)), problem }
}

/** Returns the qualified fault code. MessageExpired is in the utility namespace. */
function qualified(code: FaultCode): string {
  return code === 'MessageExpired' ? `wsu:${code}` : `wsse:${code}`
}

function declaration(code: FaultCode): Readonly<Record<string, string>> {
  return code === 'MessageExpired' ? { 'xmlns:wsu': NS.wsu } : { 'xmlns:wsse': NS.wsse }
}
